import RivuletEventLoop
import Synchronization

/// A server that says what a test wants, for the states that a real one is rarely in.
final class FakeNATSServer: LoopDelegate, @unchecked Sendable {
    // SAFETY: the loop's state is used on its thread only.
    let port: UInt16
    private let loop: EventLoop
    private let thread: Mutex<LoopThread?> = Mutex(nil)
    private let info: String
    private let respond: @Sendable (String) -> String
    private var clients: [ConnectionID] = []
    private let state = Mutex<(opened: Int, text: String)>((0, ""))

    /// An INFO that the client accepts.
    static let usual = #"{"server_id":"F","version":"2.15.1","max_payload":100,"headers":true,"jetstream":true}"#

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - info: The JSON of its INFO.
    ///   - respond: Returns the answer to received bytes; by default a PONG to the client's first PING.
    /// - Throws: The error of the loop.
    init(
        info: String = usual,
        respond: @escaping @Sendable (String) -> String = { $0.contains("PING\r\n") ? "PONG\r\n" : "" }
    ) throws {
        loop = try EventLoop(index: 0)
        port = try loop.listen(host: "127.0.0.1", port: 0)
        (self.info, self.respond) = (info, respond)
        loop.setDelegate(self)
        let thread = try LoopThread(running: loop)
        self.thread.withLock { $0 = thread }
    }

    func stop() {
        loop.post { [loop] in loop.stop() }
        thread.withLock { $0.take() }?.join()
    }

    /// The number of connections so far.
    var opened: Int { state.withLock { $0.opened } }
    /// All that clients have sent.
    var received: String { state.withLock { $0.text } }

    /// Sends a line to all clients.
    func send(_ line: String) {
        loop.post { [self] in for id in clients { _ = loop.write(id, Array("\(line)\r\n".utf8)) } }
    }

    func connectionDidOpen(_ id: ConnectionID, peer: PeerAddress) {
        clients.append(id)
        state.withLock { $0.opened += 1 }
        _ = loop.write(id, Array("INFO \(info)\r\n".utf8))
    }

    func connection(_ id: ConnectionID, didReceive bytes: Span<UInt8>) {
        var copy: [UInt8] = []
        for index in bytes.indices { copy.append(bytes[index]) }
        let text = String(decoding: copy, as: UTF8.self)
        state.withLock { $0.text += text }
        let answer = respond(text)
        if !answer.isEmpty { _ = loop.write(id, Array(answer.utf8)) }
    }

    func connectionDidEnd(_ id: ConnectionID) { loop.close(id) }
    func connectionDidDrain(_ id: ConnectionID) {}
    func connectionDidClose(_ id: ConnectionID, reason: CloseReason) { clients.removeAll { $0 == id } }
    func loopWillSleep() -> Bool { false }
    func loopDidRefuseConnection(_ error: AcceptError) {}
}
