// Checks the bodies for which a loop has no memory, and that the loop returns all memory that it reserved.

import CounterFixture
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import Synchronization
import Testing

@testable import RivuletServer

/// The text that one connection was sent, and true if it was closed.
private final class Written: Sendable {
    private let state = Mutex((text: "", isClosed: false))

    var text: String { state.withLock { $0.text } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func take(_ bytes: [UInt8]?) {
        state.withLock {
            $0.text += String(decoding: bytes ?? [], as: UTF8.self)
            if bytes == nil { $0.isClosed = true }
        }
    }
}

@Suite struct BodyDriverTests {
    private let served: ServerLoop
    private let transport: MemoryTransport
    private let loop: EventLoop

    /// Creates limits with room for one body of 65,536 bytes and for three steps of chunked ones.
    ///
    /// The times for waits and progress are zero.
    init() throws {
        let limits = ServerLimits(
            bodyBytesMax: 131_072,
            heldBodyBytesMax: 262_144,
            bodyWaitTimeMax: .zero,
            bodyProgressTimeMax: .zero
        )
        let server = StateServer(options: ServerOptions(limits: limits), storage: MemoryStorageEngine())
        try server.host(TallyApp())
        loop = try EventLoop(index: 0)
        served = ServerLoop(index: 0, loop: loop, context: try server.makeContext(workers: 1, clock: ContinuousClock()))
        transport = MemoryTransport(loop: loop, delegate: served)
        served.core.attach([LoopBound(served, to: loop)], transport: transport)
    }

    private var heldBytes: Int { served.context.bodyBudget.bytes }

    private func open() -> (ConnectionID, Written) {
        let written = Written()
        return (transport.open { written.take($0) }, written)
    }

    /// Sends the head of a dispatch, and the given part of its body.
    private func post(_ id: ConnectionID, _ framing: String, path: String = "events", _ body: String = "") {
        let target = "/v1/apps/tally/sessions/one/\(path)"
        let type = "Content-Type: application/json"
        send(id, "POST \(target) HTTP/1.1\r\nHost: localhost\r\n\(type)\r\n\(framing)\r\n\r\n\(body)")
    }

    private func send(_ id: ConnectionID, _ text: String) { transport.receive(id, Array(text.utf8)) }
    private func chunk(_ count: Int) -> String {
        "\(String(count, radix: 16))\r\n\(String(repeating: " ", count: count))\r\n"
    }

    private func deadline(_ id: ConnectionID) -> HTTPDeadline? {
        served.connections[id]?.deadline
    }

    /// Runs the posted jobs, and the jobs that these post.
    ///
    /// May be called once.
    private func run() {
        loop.post { [loop] in
            loop.post { loop.post { loop.stop() } }
        }
        loop.run()
    }

    /// Runs the loop until the waits of zero time are over.
    ///
    /// May be called once.
    private func runUntilDue() {
        loop.setDelegate(served)
        // A turn runs its timers first, so that the deadlines of the last turn are checked, too.
        loop.schedule(after: .milliseconds(5)) { [loop] in loop.stop() }
        loop.run()
    }

    /// Reserves all memory of large bodies: 131,072 bytes and 65,536.
    private func fill() -> [ConnectionID] {
        let ids = [open().0, open().0]
        for (id, count) in zip(ids, [131_072, 65_536]) { post(id, "Content-Length: \(count)") }
        #expect(heldBytes == 196_608)
        return ids
    }

    @Test func `a body reserves its length until its connection closes`() {
        let (id, _) = open()
        post(id, "Content-Length: 20000")
        #expect(heldBytes == 20_000 && deadline(id) == .body)
        served.connectionDidClose(id, reason: .peerEnded)
        #expect(heldBytes == 0 && served.connections.bodies.isEmpty)
    }

    @Test func `a body that does not come in time returns its reservation`() {
        let (id, written) = open()
        post(id, "Content-Length: 20000")
        guard let connection = served.connections[id] else { return }
        served.connections.deadlineDidPass(connection, now: .max)
        #expect(written.text.hasPrefix("HTTP/1.1 408 ") && written.isClosed)
        #expect(heldBytes == 0)
    }

    @Test func `a body that came with its head, or that was refused at its head, reserves nothing`() {
        let (id, written) = open()
        post(id, "Content-Length: 5", path: "nothing", "12345")
        post(id, "Content-Length: 50000", path: "nothing")
        #expect(written.text.components(of: "HTTP/1.1 404 ") == 2 && !written.isClosed)
        #expect(heldBytes == 0 && served.connections.bodies.isEmpty)
        post(id, "Content-Length: 131073")
        // The bytes still belong to the refused body.
        #expect(written.text.components(of: "HTTP/1.1") == 2)
    }

    @Test(arguments: [
        ("Content-Length: 131073", "events", "413"), ("Content-Length: 70000", "reset", "400"),
        ("Transfer-Encoding: chunked", "reset", "400"), ("Content-Length: 70000", "nothing", "404"),
        ("Content-Length: 70000\r\nContent-Encoding: br", "events", "415"),
        ("Content-Length: 70000\r\nIdempotency-Key: \"a\"", "fork", "400"),
        ("Content-Length: 70000\r\nExpect: 100-continue", "nothing", "404"),
        ("Content-Length: 70\r\nExpect: 100-continue", "nothing", "404"),
    ])
    func `a connection ends after a refused head if the body is not discarded`(
        framing: String,
        path: String,
        status: String
    ) {
        let (id, written) = open()
        post(id, framing, path: path)
        #expect(written.text.hasPrefix("HTTP/1.1 \(status) ") && written.isClosed)
        #expect(written.text.contains("\r\nConnection: close\r\n"))
        #expect(!written.text.contains("HTTP/1.1 100 "))
    }

    @Test func `requests behind a refused body are answered in order`() {
        let (id, written) = open()
        let next = "POST /v1/apps/tally/sessions/one/reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"
        post(id, "Content-Length: 10", path: "nothing", "01234")
        send(id, "56789" + next + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let statuses = written.text.split(separator: "HTTP/1.1 ").map { $0.prefix(3) }
        #expect(statuses == ["404", "400", "200"])
    }

    @Test func `a body without memory waits, reads nothing meanwhile, and gets 503 when its time is over`() {
        _ = fill()
        let (id, written) = open()
        post(id, "Content-Length: 65536\r\nExpect: 100-continue")
        #expect(written.text.isEmpty && deadline(id) == nil && served.connections.bodies.isWaiting(id))
        #expect(served.connections[id]?.wantsReading == false)
        runUntilDue()
        #expect(written.text.hasPrefix("HTTP/1.1 503 ") && written.text.contains("\r\nRetry-After: 1\r\n"))
        #expect(written.text.contains("\r\nConnection: close\r\n") && written.isClosed)
        #expect(heldBytes == 196_608)
        // The deadline is not due again and again.
        #expect(!served.runDeadlines())
    }

    @Test func `large bodies without progress do not stop small ones`() {
        _ = fill()
        let (waiting, _) = open()
        post(waiting, "Content-Length: 65536")
        let (id, written) = open()
        post(id, "Content-Length: 16384\r\nExpect: 100-continue")
        #expect(written.text.hasPrefix("HTTP/1.1 100 ") && !served.connections.bodies.isWaiting(id))
    }

    @Test func `a chunked body reserves memory as it grows, waits for more, and gets 503 when its time is over`() {
        let (id, written) = open()
        post(id, "Transfer-Encoding: chunked")
        #expect(heldBytes == 65_536)
        send(id, chunk(10))
        #expect(heldBytes == 131_072)
        let (other, refused) = open()
        post(other, "Transfer-Encoding: chunked")
        #expect(heldBytes == 196_608)
        #expect(served.connections[other]?.wantsReading == true)
        send(other, chunk(10))
        #expect(served.connections.bodies.isWaiting(other) && deadline(other) == nil)
        #expect(served.connections[other]?.wantsReading == false)
        runUntilDue()
        #expect(refused.text.hasPrefix("HTTP/1.1 503 ") && refused.isClosed)
        #expect(heldBytes == 131_072 && written.text.isEmpty && deadline(id) == .body)
    }

    @Test func `bodies without progress make room for waiting ones`() {
        let ids = fill()
        let (id, written) = open()
        post(id, "Content-Length: 65536\r\nExpect: 100-continue")
        send(ids[0], "x")
        served.connections.shedStalledBodies()
        #expect(!served.context.bodyBudget.hasWaiters(for: .large))
        // One stalled body was enough.
        #expect(ids.filter { deadline($0) != .body }.count == 1)
        run()
        #expect(written.text.hasPrefix("HTTP/1.1 100 ") && deadline(id) == .body)
    }

    @Test func `heads of large bodies without bytes do not lock out small bodies`() {
        _ = fill()
        // Four bodies wait, and there is no room for the other heads.
        for _ in 0..<8 { post(open().0, "Content-Length: 65536") }
        let small = [open(), open()]
        for (id, _) in small { post(id, "Content-Length: 16384") }
        let (id, written) = open()
        post(id, "Content-Length: 16384\r\nExpect: 100-continue")
        #expect(served.connections.bodies.isWaiting(id))
        served.connections.shedStalledBodies()
        run()
        #expect(written.text.hasPrefix("HTTP/1.1 100 "))
        let refused = small.map(\.1.text).filter { $0.hasPrefix("HTTP/1.1 408 ") }
        #expect(refused.count == 1 && refused.allSatisfy { $0.contains("(bodyProgressBytesMin)") })
    }

    @Test func `a body that cannot wait also makes a stalled one give way`() {
        let ids = fill()
        let (id, written) = open()
        // The body already has more bytes than waiting bodies may hold.
        post(id, "Content-Length: 65536", String(repeating: " ", count: 20_000))
        #expect(written.text.hasPrefix("HTTP/1.1 503 ") && !served.context.bodyBudget.hasWaiters(for: .large))
        served.connections.shedStalledBodies()
        #expect(ids.allSatisfy { deadline($0) == .body })
        served.connections.shedStalledBodies(served.connections.bodies.takeRefusedShares())
        #expect(ids.filter { deadline($0) != .body }.count == 1)
        served.connections.shedStalledBodies(served.connections.bodies.takeRefusedShares())
        #expect(ids.filter { deadline($0) != .body }.count == 1)
    }

    @Test func `a waiting body whose connection closed gives its memory to the next body`() {
        let ids = fill()
        let (gone, _) = open()
        post(gone, "Content-Length: 131072")
        let (id, written) = open()
        post(id, "Content-Length: 65536\r\nExpect: 100-continue")
        served.connectionDidClose(ids[0], reason: .peerEnded)
        served.connectionDidClose(gone, reason: .peerEnded)
        run()
        #expect(written.text.hasPrefix("HTTP/1.1 100 "))
        #expect(heldBytes == 131_072)
    }

    @Test func `a chunked body continues with its remaining time when it gets memory`() {
        let (first, _) = open()
        post(first, "Content-Length: 131072")
        let (id, _) = open()
        post(id, "Transfer-Encoding: chunked")
        send(id, chunk(10))
        #expect(served.connections.bodies.isWaiting(id))
        served.connectionDidClose(first, reason: .peerEnded)
        run()
        #expect(!served.connections.bodies.isWaiting(id) && deadline(id) == .body && heldBytes == 131_072)
        #expect(served.connections[id]?.wantsReading == true)
    }

    @Test func `a limit that is too small for the largest body is refused, and the error has the least value`() throws {
        let options = ServerOptions(limits: ServerLimits(bodyBytesMax: 300_000, heldBodyBytesMax: 399_999))
        let server = StateServer(options: options, storage: MemoryStorageEngine())
        try server.host(TallyApp())
        let error = #expect(throws: ServerError.self) {
            try server.makeContext(workers: 1, clock: ContinuousClock())
        }
        #expect(try #require(error?.description).contains("set it to 400000 at least"))
    }
}

extension String {
    /// The number of occurrences of another text.
    fileprivate func components(of text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
