// Checks that a request is answered even if a loop's mailbox takes no job.

import CounterFixture
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import Synchronization
import Testing

@testable import RivuletServer

/// A mailbox that is full, but runs a reply at once.
private final class Mailbox: SessionExecutor {
    var isCurrent: Bool { true }

    func post(_ job: @escaping @Sendable () -> Void) -> Bool { false }

    func postReply(_ job: @escaping @Sendable () -> Void) -> Bool {
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

    @Test func `an answer for a loop with a full mailbox is sent`() throws {
        let (first, second) = (try loop(0), try loop(1))
        let peers = [LoopBound(first, to: first.core.loop), LoopBound(second, to: Mailbox())]
        let transport = MemoryTransport(loop: second.core.loop, delegate: second)
        first.core.attach(peers)
        second.core.attach(peers, transport: transport)
        let answer = Mutex("")
        let id = transport.open { bytes in answer.withLock { $0 += String(decoding: bytes ?? [], as: UTF8.self) } }
        transport.receive(id, try request(ofShard: 1))
        first.send(.json(Array("1".utf8)), to: Exchange(loop: 1, connection: id))
        #expect(answer.withLock { $0 }.hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `a request for a session of a loop with a full mailbox gets 503`() throws {
        let (first, second) = (try loop(0), try loop(1))
        let transport = MemoryTransport(loop: first.core.loop, delegate: first)
        first.core.attach(
            [LoopBound(first, to: first.core.loop), LoopBound(second, to: Mailbox())],
            transport: transport
        )
        let answer = Mutex("")
        let id = transport.open { bytes in answer.withLock { $0 += String(decoding: bytes ?? [], as: UTF8.self) } }
        transport.receive(id, try request(ofShard: 1))
        #expect(answer.withLock { $0 }.hasPrefix("HTTP/1.1 503 "))
        let stream = transport.open { bytes in answer.withLock { $0 += String(decoding: bytes ?? [], as: UTF8.self) } }
        let changes = String(decoding: try request(ofShard: 1), as: UTF8.self).replacing("/state ", with: "/changes ")
        transport.receive(stream, Array(changes.replacing("gzip", with: "identity").utf8))
        #expect(answer.withLock { $0 }.contains("event: bye\ndata: {\"reason\":\"limit\""))
    }

    @Test func `with a full mailbox an answer is compressed in one turn, and its compressor is released`() throws {
        let served = try loop(0, jobsMax: 0)
        let transport = MemoryTransport(loop: served.core.loop, delegate: served)
        served.core.attach([LoopBound(served, to: served.core.loop)], transport: transport)
        let body = [UInt8](repeating: UInt8(ascii: "1"), count: GzipStreams.sliceBytes * 2 + 1)
        for _ in 0...GzipStreams.underWayMax {
            let answer = Mutex("")
            let id = transport.open { bytes in answer.withLock { $0 += String(decoding: bytes ?? [], as: UTF8.self) } }
            transport.receive(id, try request(ofShard: 0))
            let connection = try #require(served.connections[id])
            served.connections.answer(connection, .json(body))
            #expect(answer.withLock { $0 }.contains("Content-Encoding: gzip\r\n"))
        }
    }
}
