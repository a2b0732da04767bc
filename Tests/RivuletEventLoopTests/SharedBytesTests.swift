// Owns the tests of bytes that are sent to several connections, over real sockets.

import RivuletEventLoop
import Testing

@Suite struct SharedBytesTests {
    private static func pattern(_ count: Int, _ factor: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* factor) }
    }

    @Test func `bytes are in their account until they are released`() {
        let account = SharedBytes.Account()
        var first: SharedBytes? = SharedBytes([1, 2, 3], account: account)
        let second = SharedBytes([4], account: account)
        #expect(account.bytes == 4)
        first = nil
        #expect(account.bytes == 1)
        #expect(first == nil)
        var bytes: [UInt8] = []
        second.append(to: &bytes)
        #expect(bytes == [4])
        #expect(second.withBytes { $0[0] } == 4)
    }

    @Test(arguments: [0, 1, 5])
    func `bytes that are written in place are read back unchanged`(capacity: Int) {
        let account = SharedBytes.Account()
        let written = SharedBytes(capacity: capacity, account: account) { output in
            while output.freeCapacity > 1 { output.append(7) }
        }
        let count = max(capacity - 1, 0)
        #expect(written.count == count && account.bytes == count)
        var bytes: [UInt8] = []
        written.append(to: &bytes)
        #expect(bytes == Array(repeating: 7, count: count))
    }

    @Test func `a prefix is computed from the number of bytes, and is directly before them`() {
        let account = SharedBytes.Account()
        let written = SharedBytes(prefixCapacity: 9, capacity: 5, account: account) { output in
            for byte in [1, 2, 3] as [UInt8] { output.append(byte) }
        } prefix: { count, output in
            for _ in 0..<count { output.append(UInt8(count)) }
        }
        var bytes: [UInt8] = []
        written.append(to: &bytes)
        #expect(bytes == [3, 3, 3, 1, 2, 3])
        #expect(account.bytes == 6)
    }

    @Test func `a part uses the same memory, and is in the account until it is released`() {
        let account = SharedBytes.Account()
        var whole: SharedBytes? = SharedBytes([1, 2, 3, 4], account: account)
        let part = whole.map { SharedBytes(1..<3, of: $0) }
        whole = nil
        #expect(whole == nil)
        #expect(account.bytes == 4)
        var bytes: [UInt8] = []
        part?.append(to: &bytes)
        #expect(bytes == [2, 3])
        var last = part.map { SharedBytes(1..<2, of: $0) }
        #expect(last?.withBytes { $0[0] } == 3)
        last = nil
        #expect(last == nil)
    }

    @Test func `head and blocks arrive in their order, empty ones too`() throws {
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port)
        let id = try harness.nextOpened()
        let blocks = [SharedBytes([2, 3]), SharedBytes([]), SharedBytes([4])]
        #expect(try harness.onLoop { $0.write(id, [1], blocks[...]) } == .sent)
        #expect(try harness.onLoop { $0.write(id, SharedBytes([5])) } == .sent)
        #expect(try harness.onLoop { $0.write(id, SharedBytes([])) } == .sent)
        #expect(try harness.onLoop { $0.write(id, [], []) } == .sent)
        #expect(try client.receive(exactly: 5) == [1, 2, 3, 4, 5])
        harness.stop()
    }

    @Test func `bytes that a slow reader does not take are held until it takes them, and then released`() throws {
        let account = SharedBytes.Account()
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port, receiveBufferBytes: 4_096)
        let id = try harness.nextOpened()
        let large = Self.pattern(8_000_000, 31)
        let outcome = try harness.onLoop { loop in loop.write(id, SharedBytes(large, account: account)) }
        guard case .queued(let unsentBytes) = outcome else {
            Issue.record("8 MB fit into the kernel's buffers")
            return
        }
        #expect(account.bytes == large.count)
        #expect(try harness.onLoop { $0.unsentBytes(id) } <= unsentBytes)
        // These bytes are copied, because unsent bytes wait before them.
        let later = try harness.onLoop { loop in loop.write(id, [9], [SharedBytes([8, 7], account: account)]) }
        #expect(later != .sent && later != .closed)
        #expect(account.bytes == large.count)
        #expect(try client.receive(exactly: large.count + 3) == large + [9, 8, 7])
        #expect(try harness.events.take() == .drained(id))
        #expect(try harness.onLoop { _ in account.bytes } == 0)
        harness.stop()
    }

    @Test func `many blocks stay in order, however many bytes the kernel takes at once`() throws {
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port, receiveBufferBytes: 4_096)
        let id = try harness.nextOpened()
        let parts = (1...200).map { Self.pattern(20_000 + $0, $0) }
        let head = Self.pattern(30_000, 7)
        let outcome = try harness.onLoop { $0.write(id, head, parts.map { SharedBytes($0) }[...]) }
        #expect(outcome != .sent)
        let expected = head + parts.flatMap(\.self)
        #expect(try client.receive(exactly: expected.count) == expected)
        #expect(try harness.events.take() == .drained(id))
        harness.stop()
    }

    @Test func `a connection that closes releases its bytes`() throws {
        let account = SharedBytes.Account()
        let harness = try LoopHarness()
        let client = try TestClient(port: harness.port, receiveBufferBytes: 4_096)
        let id = try harness.nextOpened()
        _ = try harness.onLoop { $0.write(id, SharedBytes([UInt8](repeating: 1, count: 8_000_000), account: account)) }
        #expect(account.bytes == 8_000_000)
        _ = try harness.onLoop { loop in
            loop.close(id)
            return 0
        }
        #expect(try harness.events.take() == .closed(id, .local))
        #expect(account.bytes == 0)
        #expect(try harness.onLoop { $0.write(id, SharedBytes([1])) } == .closed)
        _ = client
        harness.stop()
    }
}
