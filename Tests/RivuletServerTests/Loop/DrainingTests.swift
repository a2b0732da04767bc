// Checks that a server that stops notifies all its streams, including those that were being opened.

import CounterFixture
import RivuletEngine
import RivuletEventLoop
import RivuletSessions
import Synchronization
import Testing

@testable import RivuletServer

@Suite struct DrainingTests {
    @Test func `a stream that was being opened when the draining began gets a bye`() throws {
        let server = StateServer(storage: MemoryStorageEngine())
        try server.host(TallyApp())
        let loop = try EventLoop(index: 0)
        let context = try server.makeContext(workers: 1, clock: ContinuousClock())
        let served = ServerLoop(index: 0, loop: loop, context: context)
        let transport = MemoryTransport(loop: loop, delegate: served)
        served.core.attach([LoopBound(served, to: loop)], transport: transport)
        let written = Mutex((text: "", isClosed: false))
        let id = transport.open { bytes in
            written.withLock {
                $0.text += String(decoding: bytes ?? [], as: UTF8.self)
                if bytes == nil { $0.isClosed = true }
            }
        }
        let target = "/v1/apps/tally/sessions/one/changes"
        transport.receive(
            id,
            Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n".utf8)
        )
        served.drain()
        let join = StreamJoin(
            stream: StreamID(loop: 0, id),
            slot: .group(GroupID(rawValue: 1)),
            source: .session(SessionKey(app: "tally", id: "one"), StreamTopic(paths: [])),
            first: .none,
            cursor: "aaaaaaaa.0.bbbb-0"
        )
        served.streams.take(.join(join))
        let (text, isClosed) = written.withLock { $0 }
        #expect(text.contains("event: bye\ndata: {\"reason\":\"draining\""))
        #expect(text.hasSuffix("\n\n\r\n0\r\n\r\n"))
        #expect(isClosed)
        #expect(served.connections[id]?.stream == nil)
    }

    @Test func `a draining server closes a connection after it has discarded a refused body`() throws {
        let server = StateServer(storage: MemoryStorageEngine())
        try server.host(TallyApp())
        let loop = try EventLoop(index: 0)
        let context = try server.makeContext(workers: 1, clock: ContinuousClock())
        let served = ServerLoop(index: 0, loop: loop, context: context)
        let transport = MemoryTransport(loop: loop, delegate: served)
        served.core.attach([LoopBound(served, to: loop)], transport: transport)
        let isClosed = Mutex(false)
        let id = transport.open { bytes in
            if bytes == nil { isClosed.withLock { $0 = true } }
        }
        let head = "POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
        transport.receive(id, Array("\(head)01234".utf8))
        served.drain()
        #expect(!isClosed.withLock { $0 })
        transport.receive(id, Array("56789".utf8))
        #expect(isClosed.withLock { $0 })
    }
}
