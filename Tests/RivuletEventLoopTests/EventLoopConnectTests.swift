import Glibc
import RivuletEventLoop
import Testing

@Suite struct EventLoopConnectTests {
    private typealias Outcome = Result<ConnectionID, LoopError>

    private func connect(
        _ harness: LoopHarness,
        to host: String,
        port: UInt16,
        within time: Duration = .seconds(10)
    ) throws -> Outcome {
        let outcome = Handover<Outcome>()
        harness.loop.post { [loop = harness.loop] in
            loop.connect(host: host, port: port, within: time) { outcome.put($0) }
        }
        return try outcome.take()
    }

    @Test(arguments: ["127.0.0.1", "localhost", "LOCALHOST"])
    func `a connection to an address or a name writes and reads`(host: String) throws {
        let server = try LoopHarness()
        defer { server.stop() }
        let client = try LoopHarness()
        defer { client.stop() }
        let id = try connect(client, to: host, port: server.port).get()
        let accepted = try server.nextOpened()
        #expect(try client.onLoop { $0.write(id, [1, 2, 3]) } == .sent)
        #expect(try server.events.take() == .received(accepted, [1, 2, 3]))
        #expect(try server.onLoop { $0.write(accepted, [4]) } == .sent)
        #expect(try client.events.take() == .received(id, [4]))
        #expect(try server.onLoop { $0.close(accepted) } == ())
        #expect(try client.events.take() == .ended(id))
    }

    @Test func `a port that nothing listens on is refused`() throws {
        let server = try LoopHarness()
        let port = server.port
        server.stop()
        let client = try LoopHarness()
        defer { client.stop() }
        let outcome = try connect(client, to: "127.0.0.1", port: port)
        #expect(outcome == .failure(LoopError(call: "connect 127.0.0.1:\(port)", code: -ECONNREFUSED)))
    }

    @Test func `a host that is no name fails with the lookup's code`() throws {
        let client = try LoopHarness()
        defer { client.stop() }
        guard case .failure(let error) = try connect(client, to: "not a name", port: 1) else {
            Issue.record("a host with spaces was found")
            return
        }
        #expect(error.call == "getaddrinfo not a name:1")
    }

    @Test func `an attempt that takes too long times out`() throws {
        // A listener with a full backlog answers no further connection.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        #expect(listen(listener, 0) == 0)
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // SAFETY: the kernel writes at most the size of the variable.
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            let base = unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
            #expect(unsafe getsockname(listener, base, &size) == 0)
        }
        let port = UInt16(bigEndian: address.sin_port)
        let client = try LoopHarness()
        defer { client.stop() }
        _ = try connect(client, to: "127.0.0.1", port: port).get()
        let outcome = try connect(client, to: "127.0.0.1", port: port, within: .milliseconds(20))
        #expect(outcome == .failure(LoopError(call: "connect 127.0.0.1:\(port)", code: -ETIMEDOUT)))
    }

    @Test func `a loop that stops drops its attempts`() throws {
        let server = try LoopHarness()
        defer { server.stop() }
        let client = try LoopHarness()
        let port = server.port
        client.loop.post { [loop = client.loop] in
            loop.connect(host: "127.0.0.1", port: port, within: .seconds(10)) { _ in Issue.record("replied") }
            loop.connect(host: "LOCALHOST", port: port, within: .seconds(10)) { _ in Issue.record("replied") }
            loop.stop()
        }
        client.stop()
    }
}
