// Checks that a request is answered also where a loop's mailbox takes no job.

import CounterFixture
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import Synchronization
import Testing

@testable import RivuletServer

/// A mailbox that takes no job until it has room, and then runs each job at once.
private final class Mailbox: SessionExecutor {
    let hasRoom = Atomic(false)

    var isCurrent: Bool { true }

    func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard hasRoom.load(ordering: .relaxed) else { return false }
        job()
        return true
    }
}

@Suite struct FullMailboxTests {
    private let context: ServerContext

    init() throws {
        let server = StateServer(storage: MemoryStorageEngine())
        try server.host(TallyApp())
        context = try server.makeContext(workers: 2, clock: ContinuousClock())
    }

    private func loop(_ index: Int, jobsMax: Int = 100) throws -> ServerLoop {
        var limits = LoopLimits()
        limits.postedJobsMax = jobsMax
        return ServerLoop(index: index, loop: try EventLoop(index: index, limits: limits), context: context)
    }

    /// The text of a request for the state of a session of a loop's shard.
    private func request(ofShard index: Int) throws -> [UInt8] {
        let keys = (0..<64).map { SessionKey(app: "tally", id: "s\($0)") }
        let key = try #require(keys.first { context.shard(of: $0) == index })
        let target = "/v1/apps/tally/sessions/\(key.id)/state"
        return Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".utf8)
    }

    @Test func `an answer for a loop without room is sent once the loop has room`() throws {
        let (first, second) = (try loop(0), try loop(1))
        let mailbox = Mailbox()
        let peers = [Confined(first, to: first.core.loop), Confined(second, to: mailbox)]
        let wire = MemoryWire(loop: second.core.loop, delegate: second)
        first.core.attach(peers)
        second.core.attach(peers, wire: wire)
        let answer = Mutex("")
        let id = wire.open { bytes in answer.withLock { $0 += String(decoding: bytes ?? [], as: UTF8.self) } }
        wire.receive(id, try request(ofShard: 1))
        first.send(.json(Array("1".utf8)), to: Exchange(loop: 1, connection: id))
        #expect(answer.withLock { $0 }.isEmpty)
        mailbox.hasRoom.store(true, ordering: .relaxed)
        first.core.loop.schedule(after: .milliseconds(20)) { first.core.loop.stop() }
        first.core.loop.run()
        #expect(answer.withLock { $0 }.hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `a request for a session of a loop without room is 503`() throws {
        let (first, second) = (try loop(0), try loop(1))
        let wire = MemoryWire(loop: first.core.loop, delegate: first)
        first.core.attach([Confined(first, to: first.core.loop), Confined(second, to: Mailbox())], wire: wire)
        let answer = Mutex("")
        let id = wire.open { bytes in answer.withLock { $0 += String(decoding: bytes ?? [], as: UTF8.self) } }
        wire.receive(id, try request(ofShard: 1))
        #expect(answer.withLock { $0 }.hasPrefix("HTTP/1.1 503 "))
        let stream = wire.open { bytes in answer.withLock { $0 += String(decoding: bytes ?? [], as: UTF8.self) } }
        let changes = String(decoding: try request(ofShard: 1), as: UTF8.self).replacing("/state ", with: "/changes ")
        wire.receive(stream, Array(changes.replacing("gzip", with: "identity").utf8))
        #expect(answer.withLock { $0 }.contains("event: bye\ndata: {\"reason\":\"limit\""))
    }

    @Test func `an answer is compressed in one turn where the loop has no room, and gives its compressor back`() throws
    {
        let served = try loop(0, jobsMax: 0)
        let wire = MemoryWire(loop: served.core.loop, delegate: served)
        served.core.attach([Confined(served, to: served.core.loop)], wire: wire)
        let body = [UInt8](repeating: UInt8(ascii: "1"), count: GzipStreams.sliceBytes * 2 + 1)
        for _ in 0...GzipStreams.underWayMax {
            let answer = Mutex("")
            let id = wire.open { bytes in answer.withLock { $0 += String(decoding: bytes ?? [], as: UTF8.self) } }
            wire.receive(id, try request(ofShard: 0))
            let connection = try #require(served.connections[id])
            served.connections.answer(connection, .json(body))
            #expect(answer.withLock { $0 }.contains("Content-Encoding: gzip\r\n"))
        }
    }
}
