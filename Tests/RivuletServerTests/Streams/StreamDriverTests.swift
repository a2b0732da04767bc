// Checks the memory that a loop holds for its streams, the order of its writes, and the times at which it closes
// streams.

import CounterFixture
import RivuletEngine
import RivuletEventLoop
import RivuletJSON
import RivuletSessions
import SeededRandom
import Synchronization
import Testing

@testable import RivuletServer

/// A transport that takes no bytes while it is not open, but queues them, as the sockets of stopped readers do.
private final class StuckTransport: ConnectionTransport {
    private struct Queue {
        var blocks: [SharedBytes] = []
        var unsentBytes = 0
    }

    private var queues: [ConnectionID: Queue] = [:]
    /// True if sockets take all bytes.
    var isOpen = false
    private(set) var bytes: [ConnectionID: [UInt8]] = [:]
    var texts: [ConnectionID: String] { bytes.mapValues { String(decoding: $0, as: UTF8.self) } }
    /// The connections of the writes, in order.
    var order: [ConnectionID] = []
    private(set) var closed: [ConnectionID: CloseReason] = [:]
    /// The milliseconds in which a socket has taken nothing.
    var stalled: [ConnectionID: UInt64] = [:]

    func write(_ id: ConnectionID, _ head: [UInt8], _ blocks: ArraySlice<SharedBytes>) -> WriteOutcome {
        guard closed[id] == nil else { return .closed }
        order.append(id)
        bytes[id, default: []] += head
        for block in blocks { block.append(to: &bytes[id, default: []]) }
        guard !isOpen else { return .sent }
        queues[id, default: Queue()].blocks += blocks
        queues[id, default: Queue()].unsentBytes += head.count + blocks.reduce(0) { $0 + $1.count }
        return .queued(unsentBytes: unsentBytes(id))
    }

    /// Marks that the socket of a connection has taken everything.
    func drain(_ id: ConnectionID) { queues[id] = nil }

    func write(_ id: ConnectionID, _ bytes: [UInt8]) -> WriteOutcome { write(id, bytes, []) }
    func write(_ id: ConnectionID, _ bytes: SharedBytes) -> WriteOutcome { write(id, [], [bytes]) }
    var hasRoomInTurn: Bool { true }
    func unsentBytes(_ id: ConnectionID) -> Int { queues[id]?.unsentBytes ?? 0 }
    func stalledMilliseconds(_ id: ConnectionID) -> UInt64? { queues[id].map { _ in stalled[id] ?? 10_000 } }
    func pauseReading(_ id: ConnectionID) {}
    func resumeReading(_ id: ConnectionID) {}
    func closeAfterFlush(_ id: ConnectionID, within time: Duration) {}
    func setStreaming(_ id: ConnectionID) {}

    func close(_ id: ConnectionID, _ reason: CloseReason) {
        queues[id] = nil
        closed[id] = reason
    }
}

@Suite struct StreamDriverTests {
    private let served: ServerLoop
    private let transport = StuckTransport()
    private let group = GroupID(rawValue: 1)

    init() throws {
        let limits = ServerLimits(heldBytesMax: 10_000)
        let server = StateServer(options: ServerOptions(limits: limits), storage: MemoryStorageEngine())
        try server.host(TallyApp())
        var loopLimits = LoopLimits()
        loopLimits.unsentBytesMax = 20_000
        let loop = try EventLoop(index: 0, limits: loopLimits)
        served = ServerLoop(index: 0, loop: loop, context: try server.makeContext(workers: 1, clock: ContinuousClock()))
        served.core.attach([LoopBound(served, to: loop)], transport: transport)
    }

    private var heldBytes: Int { served.context.heldBytes.bytes }

    /// Opens a stream without a reader.
    ///
    /// `text` is its first content.
    private func join(
        _ slot: UInt32,
        encoding: String? = nil,
        version: String = "1.1",
        text: [UInt8] = []
    ) -> ConnectionID {
        let id = request(slot, encoding: encoding, version: version)
        begin(id, text)
        return id
    }

    /// Opens eight streams without readers.
    ///
    /// Together they hold more bytes than the limit.
    private func joinCrowd() -> [ConnectionID] {
        let ids = (1...8).map { request($0) }
        for id in ids { begin(id, [UInt8](repeating: 65, count: 2_000)) }
        return ids
    }

    private func begin(_ id: ConnectionID, _ text: [UInt8]) {
        let account = served.context.heldBytes
        let join = StreamJoin(
            stream: StreamID(loop: 0, id),
            slot: .group(group),
            source: .session(SessionKey(app: "tally", id: "s"), StreamTopic(paths: [])),
            first: FirstEvents(
                head: [],
                body: text.isEmpty ? [] : [StreamText(text, account: account)],
                start: .fresh
            ),
            cursor: "aaaaaaaa.0.bbbb-0"
        )
        served.streams.take(.join(join))
    }

    /// Requests a stream.
    ///
    /// The answer is still open.
    private func request(_ slot: UInt32, encoding: String? = nil, version: String = "1.1") -> ConnectionID {
        let id = ConnectionID(slot: slot, generation: 1)
        served.connectionDidOpen(id, peer: PeerAddress(ip: PeerAddress.IP(v4: slot), port: 1))
        let coding = encoding.map { "Accept-Encoding: \($0)\r\n" } ?? ""
        let target = "/v1/apps/tally/sessions/s/changes"
        let request = "GET \(target) HTTP/\(version)\r\nHost: localhost\r\nAccept: text/event-stream\r\n\(coding)\r\n"
        served.connection(id, didReceive: Array(request.utf8).span)
        return id
    }

    /// The head and the body, without its framing, of the answer on a connection.
    ///
    /// Checks that the head names the framing.
    private func answer(
        to id: ConnectionID,
        version: String
    ) throws -> (head: String, body: [UInt8], isEnded: Bool) {
        let bytes = try #require(transport.bytes[id])
        let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
        let head = String(decoding: bytes[..<end.upperBound], as: UTF8.self)
        #expect(head.contains("Connection: close\r\n"))
        #expect(head.contains("Transfer-Encoding: chunked\r\n") == (version == "1.1"))
        let body = Array(bytes[end.upperBound...])
        guard version == "1.1" else { return (head, body, false) }
        let (content, isEnded) = try #require(dechunked(body))
        return (head, content, isEnded)
    }

    @Test(arguments: ["1.0", "1.1"], [nil, "gzip"])
    func `a stream is one body from its head to its bye, chunked for HTTP 1_1`(
        version: String,
        encoding: String?
    ) throws {
        transport.isOpen = true
        let id = join(1, encoding: encoding, version: version, text: Array("data: first\n\n".utf8))
        for number in 1...3 {
            let event = StreamBlock(Array("data: \(number)\n\n".utf8).span, account: served.context.heldBytes)
            served.streams.take(.deliver(event, cursor: "aaaaaaaa.\(number).bbbb-\(number)", group: group))
            _ = served.streams.flush()
        }
        let cut = try answer(to: id, version: version)
        #expect(!cut.isEnded)
        served.streams.close(try #require(served.connections[id]), because: .revoked)
        let (head, body, isEnded) = try answer(to: id, version: version)
        #expect(isEnded == (version == "1.1"))
        #expect(head.contains("Content-Encoding: gzip") == (encoding != nil))
        let text = try #require(encoding == nil ? body : gunzip(body))
        let events = String(decoding: text, as: UTF8.self)
        #expect(events.hasPrefix(":\n\nretry: "))
        let bye = "event: bye\ndata: {\"reason\":\"revoked\""
        #expect(events.contains("\n\ndata: first\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n\(bye)"))
        #expect(events.hasSuffix("}\n\n"))
        #expect(heldBytes == 0)
    }

    @Test(arguments: ["1.0", "1.1"])
    func `a stream with a single bye is a complete body`(version: String) throws {
        transport.isOpen = true
        let id = request(1, version: version)
        served.streams.answerFull(id)
        let (_, body, isEnded) = try answer(to: id, version: version)
        #expect(isEnded == (version == "1.1"))
        #expect(String(decoding: body, as: UTF8.self).contains("event: bye\ndata: {\"reason\":\"limit\""))
    }

    @Test func `a stream that missed nothing gets no bytes, because an empty chunk would end it`() throws {
        transport.isOpen = true
        let id = join(1)
        let before = transport.bytes[id]
        let key = SessionKey(app: "tally", id: "s")
        let topic = StreamTopic(paths: [try JSONPointer(parsing: "/p/count")], isRepathed: true)
        // The stream leaves its group, and requests a snapshot of the other paths.
        served.streams.watch(topic, of: key, on: try #require(served.connections[id]))
        #expect(served.connections[id]?.stream?.outside != nil)
        let join = StreamJoin(
            stream: StreamID(loop: 0, id),
            slot: .group(GroupID(rawValue: 2)),
            source: .session(key, topic),
            first: .none,
            cursor: "aaaaaaaa.0.bbbb-0"
        )
        served.streams.take(.join(join))
        #expect(transport.bytes[id] == before)
        let stream = try #require(served.connections[id]?.stream)
        #expect(stream.outside == nil)
    }

    @Test func `a stream that is shed ends without a last chunk`() throws {
        let ids = joinCrowd()
        served.streams.shed()
        for id in ids where transport.closed[id] != nil {
            let isEnded = try answer(to: id, version: "1.1").isEnded
            #expect(!isEnded)
        }
        #expect(transport.closed.count == 2)
    }

    @Test(arguments: [nil, "gzip"])
    func `the first bytes of a stream are held bytes until its socket has taken them, in any form`(
        encoding: String?
    ) throws {
        var random = SeededGenerator(seed: 1)
        let text = (0..<5_000).map { _ in UInt8.random(in: 32...126, using: &random) }
        let id = join(1, encoding: encoding, text: text)
        #expect(served.connections[id]?.stream?.facts.isCompressed == (encoding != nil))
        // Random text has 6.6 bits per byte, and zlib does not always use this completely.
        #expect((4_000...6_000).contains(heldBytes))
        served.streams.forget(try #require(served.connections[id]), .peer)
        transport.close(id, .local)
        #expect(heldBytes == 0)
    }

    @Test func `streams that take nothing stay open while all streams together are below the limit of held bytes`() {
        let id = join(1, text: [UInt8](repeating: 65, count: 9_000))
        served.streams.shed()
        #expect(transport.closed.isEmpty)
        #expect(served.connections[id]?.stream != nil)
    }

    @Test func `above the limit of held bytes a quarter of the streams that take nothing are closed`() {
        let ids = joinCrowd()
        #expect(heldBytes == 16_000)
        served.streams.shed()
        #expect(transport.closed.count == 2)
        #expect(transport.closed.values.allSatisfy { $0 == .unsentLimit })
        #expect(ids.filter { served.connections[$0]?.stream == nil } == ids.filter { transport.closed[$0] != nil })
        #expect(heldBytes == 12_000)
        served.streams.shed()
        #expect(heldBytes == 10_000)
        served.streams.shed()
        #expect(transport.closed.count == 3)
        #expect(served.context.streams.load(ordering: .relaxed) == 5)
    }

    @Test func `a connection that took bytes in the last ten seconds stays open`() {
        let ids = joinCrowd()
        for id in ids { transport.stalled[id] = 9_999 }
        served.streams.shed()
        #expect(transport.closed.isEmpty)
        transport.stalled[ids[3]] = 10_000
        transport.stalled[ids[5]] = 12_000
        served.streams.shed()
        #expect(Array(transport.closed.keys) == [ids[5]])
    }

    @Test func `above the limit of held bytes a new stream gets a bye, and a read gets 503`() throws {
        _ = joinCrowd()
        let stream = request(9)
        #expect(transport.texts[stream]?.contains(#""reason":"limit""#) == true)
        let answers = [("/v1/apps/tally/sessions/s/state", 503), ("/v1/apps/tally/sessions", 503), ("/healthz", 200)]
        for (slot, (target, status)) in answers.enumerated() {
            let id = ConnectionID(slot: UInt32(10 + slot), generation: 1)
            served.connectionDidOpen(id, peer: PeerAddress(ip: PeerAddress.IP(v4: 1), port: 1))
            served.connection(id, didReceive: Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8).span)
            let text = try #require(transport.texts[id])
            #expect(text.hasPrefix("HTTP/1.1 \(status) "))
            #expect(text.contains("heldBytesMax") == (status == 503))
            #expect(text.contains("Retry-After: 1") == (status == 503))
        }
    }

    @Test func `an event that several streams hold is counted once`() {
        let ids = (1...8).map { join($0) }
        for id in ids { #expect(served.connections[id]?.stream?.state.phase == .blocked) }
        let text = [UInt8](repeating: 65, count: 4_000)
        let event = StreamBlock(text.span, account: served.context.heldBytes)
        served.streams.take(.deliver(event, cursor: "aaaaaaaa.1.bbbb-1", group: group))
        _ = served.streams.flush()
        // The content has its size and two line ends around it.
        #expect(heldBytes == 5 + 4_000 + 2)
    }

    @Test func `paths with more bytes than a stream may get at once are refused`() throws {
        transport.isOpen = true
        let id = join(1, text: [UInt8](repeating: 65, count: 20_001))
        #expect(served.connections[id]?.stream == nil)
        let text = try #require(transport.texts[id])
        #expect(text.hasPrefix("HTTP/1.1 400"))
        #expect(text.contains("these paths have 20001 bytes; a stream is sent at most 20000 at once: watch fewer"))
        #expect(heldBytes == 0)
    }

    @Test(arguments: [1, 2] as [UInt32])
    func `an answer waits for a change's single stream, and not for several streams`(count: UInt32) {
        transport.isOpen = true
        let ids = (1...count).map { join($0) }
        _ = served.streams.flush()
        transport.order = []
        let event = StreamBlock(Array("data: {}\n\n".utf8).span, account: served.context.heldBytes)
        served.streams.take(.deliver(event, cursor: "aaaaaaaa.1.bbbb-1", group: group))
        let other = ConnectionID(slot: 9, generation: 1)
        served.connectionDidOpen(other, peer: PeerAddress(ip: PeerAddress.IP(v4: 9), port: 1))
        served.connection(other, didReceive: Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8).span)
        _ = served.streams.flush()
        #expect(transport.order == (count == 1 ? ids + [other] : [other] + ids))
        #expect(ids.allSatisfy { transport.texts[$0]?.hasSuffix("a\r\ndata: {}\n\n\r\n") == true })
    }
}
