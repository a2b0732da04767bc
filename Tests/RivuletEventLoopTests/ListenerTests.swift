// Owns the tests of listening: addresses, busy ports, groups, limits, lack of descriptors.

import Glibc
import RivuletEventLoop
import Testing

@Suite struct ListenerTests {
    @Test func `a busy port is an error that names host and port`() throws {
        let first = try EventLoop(index: 0)
        let port = try first.listen(host: "127.0.0.1", port: 0)
        let second = try EventLoop(index: 1)
        let error = #expect(throws: LoopError.self) { try second.listen(host: "127.0.0.1", port: port) }
        #expect(error.map { "\($0)" } == "bind 127.0.0.1:\(port): EADDRINUSE address already in use")
        #expect(error?.isAddressInUse == true)
    }

    @Test func `a group shares one free port among its loops`() throws {
        let loops = try (0..<3).map { try EventLoop(index: $0) }
        let port = try ListenerGroup.bind(host: "127.0.0.1", port: 0, loops: loops)
        #expect(port > 0)
        let events = Handover<LoopEvent>()
        let threads = try loops.map { loop in
            loop.setDelegate(RecordingDelegate(events: events))
            return try LoopThread(running: loop)
        }
        let clients = try (0..<30).map { _ in try TestClient(port: port) }
        for _ in clients {
            guard case .opened = try events.take() else {
                Issue.record("a connection did not open")
                return
            }
        }
        for loop in loops { loop.post { loop.stop() } }
        for thread in threads { thread.join() }
    }

    @Test func `a group reports a port in use, even if another group uses it`() throws {
        let first = try (0..<2).map { try EventLoop(index: $0) }
        let port = try ListenerGroup.bind(host: "127.0.0.1", port: 0, loops: first)
        let second = try (0..<2).map { try EventLoop(index: $0) }
        let error = #expect(throws: LoopError.self) {
            try ListenerGroup.bind(host: "127.0.0.1", port: port, loops: second)
        }
        #expect(error?.isAddressInUse == true)
        #expect(error?.call == "bind 127.0.0.1:\(port)")
    }

    @Test func `a group of one is a plain listener`() throws {
        let loop = try EventLoop(index: 0)
        let port = try ListenerGroup.bind(host: "127.0.0.1", port: 0, loops: [loop])
        let other = try EventLoop(index: 1)
        #expect(throws: LoopError.self) {
            try other.listen(host: "127.0.0.1", port: port, reusePort: true)
        }
    }

    @Test(arguments: ["example.org", "", "1.2.3", "::zz"])
    func `a host that is no address is an error`(host: String) throws {
        let loop = try EventLoop(index: 0)
        let error = #expect(throws: LoopError.self) { try loop.listen(host: host, port: 0) }
        #expect(error?.name == "EINVAL")
    }

    @Test func `an address of another machine cannot be bound`() throws {
        let loop = try EventLoop(index: 0)
        let error = #expect(throws: LoopError.self) { try loop.listen(host: "192.0.2.1", port: 0) }
        #expect(error?.name == "EADDRNOTAVAIL")
    }

    @Test func `a loop listens on IPv6`() throws {
        let peer = Handover<String>()
        let harness = try LoopHarness(host: "::1") { _, delegate in
            delegate.onOpen = { peer.put(delegate.peers[$0]?.description ?? "") }
        }
        let client = try TestClient(port: harness.port, isV6: true)
        #expect(try peer.take().hasPrefix("[::1]:"))
        harness.stop()
        withExtendedLifetime(client) {}
    }

    @Test func `the peer's address is reported`() throws {
        let peer = Handover<PeerAddress?>()
        let harness = try LoopHarness { _, delegate in
            delegate.onOpen = { peer.put(delegate.peers[$0]) }
        }
        let client = try TestClient(port: harness.port)
        let address = try #require(try peer.take())
        #expect(address.ip == PeerAddress.IP(v4: 0x7F00_0001))
        #expect(address.port > 0)
        harness.stop()
        withExtendedLifetime(client) {}
    }

    @Test func `connections over the limit are closed and reported`() throws {
        var limits = LoopLimits()
        limits.connectionsMax = 2
        let harness = try LoopHarness(limits: limits)
        let first = try TestClient(port: harness.port)
        let second = try TestClient(port: harness.port)
        _ = try harness.nextOpened()
        _ = try harness.nextOpened()
        let third = try TestClient(port: harness.port)
        #expect(try third.receiveAll().isEmpty)
        #expect(try harness.events.take() == .refused(.connectionLimit))
        harness.stop()
        withExtendedLifetime((first, second)) {}
    }

    @Test func `more connections than one turn accepts are all accepted`() throws {
        var limits = LoopLimits()
        limits.acceptsPerTurnMax = 3
        let harness = try LoopHarness(limits: limits)
        let clients = try (0..<20).map { _ in try TestClient(port: harness.port) }
        let ids = try clients.map { _ in try harness.nextOpened() }
        #expect(Set(ids).count == 20)
        harness.stop()
    }

    @Test func `a loop that stops listening keeps its connections`() throws {
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        _ = try harness.onLoop { $0.stopListening() }
        _ = try harness.onLoop { _ in }
        #expect(throws: TestClient.Failure.self) { try TestClient(port: harness.port) }
        #expect(try harness.onLoop { $0.write(id, [5]) } == .sent)
        #expect(try client.receive(exactly: 1) == [5])
        harness.stop()
    }

    @Test func `a lack of descriptors is reported, and connections are accepted when some are free`() async {
        await #expect(processExitsWith: .success) {
            let harness = try LoopHarness()
            let client = try TestClient(port: harness.port)
            _ = try harness.nextOpened()
            let next = try #require(dup(0) >= 0 ? dup(0) : nil)
            close(next - 1)
            close(next)
            // The client takes the last descriptor, so that none is left for the loop to accept it.
            try setDescriptorLimit(next)
            let second = try TestClient(port: harness.port)
            guard case .refused(.failed(let error)) = try harness.events.take() else { exit(1) }
            guard error.name == "EMFILE", error.call == "accept" else { exit(2) }
            try setDescriptorLimit(next + 100)
            _ = try harness.nextOpened()
            harness.stop()
            withExtendedLifetime((client, second)) {}
        }
    }
}

private func setDescriptorLimit(_ count: Int32) throws {
    var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: 1_024)
    let status = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    try #require(status == 0)
}
