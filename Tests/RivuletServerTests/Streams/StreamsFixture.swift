// Owns streams without sockets, for tests of the bytes that are written to each of them.

import CZlib
import RivuletEventLoop
import RivuletSessions

@testable import RivuletServer

/// A transport that gives each connection only the room that a test sets.
final class RoomyTransport: ConnectionTransport {
    /// The number of bytes that a connection takes before it is full.
    ///
    /// A connection without a number takes any.
    var room: [ConnectionID: Int] = [:]
    /// False if the bytes of the turn are used up.
    var hasRoomInTurn = true
    /// The bytes that each connection got, write by write.
    private(set) var writes: [ConnectionID: [[UInt8]]] = [:]

    /// Forgets a connection, so that another one can use its id.
    func forget(_ id: ConnectionID) {
        writes[id] = nil
        room[id] = nil
    }

    func bytes(of id: ConnectionID) -> [UInt8] { (writes[id] ?? []).flatMap(\.self) }

    func write(_ id: ConnectionID, _ bytes: [UInt8]) -> WriteOutcome {
        writes[id, default: []].append(bytes)
        let rest = (room[id] ?? .max) - bytes.count
        if room[id] != nil { room[id] = max(rest, 0) }
        return rest >= 0 ? .sent : .queued(unsentBytes: -rest)
    }

    func write(_ id: ConnectionID, _ bytes: SharedBytes) -> WriteOutcome { write(id, [], [bytes]) }

    func write(_ id: ConnectionID, _ head: [UInt8], _ blocks: ArraySlice<SharedBytes>) -> WriteOutcome {
        var bytes = head
        for block in blocks { block.append(to: &bytes) }
        return write(id, bytes)
    }

    func unsentBytes(_ id: ConnectionID) -> Int { 0 }
    func stalledMilliseconds(_ id: ConnectionID) -> UInt64? { nil }
    func pauseReading(_ id: ConnectionID) {}
    func resumeReading(_ id: ConnectionID) {}
    func close(_ id: ConnectionID, _ reason: CloseReason) {}
    func closeAfterFlush(_ id: ConnectionID, within time: Duration) {}
    func setStreaming(_ id: ConnectionID) {}
}

/// A table, its transport, and a clock that does not move.
struct Streams {
    let connections = ConnectionTable()
    var table: StreamTable
    let transport = RoomyTransport()
    let account = SharedBytes.Account()
    let coder: StreamCoder
    let group = GroupID(rawValue: 1)
    var now: UInt64 = 5
    var bytesMax = 100

    var isCompressed = false
    /// True if joining streams use HTTP/1.1 with chunks.
    ///
    /// If it is false, they use HTTP/1.0 without chunks.
    var isChunked = false

    init() {
        coder = StreamCoder(account)
        table = StreamTable(of: connections)
    }

    /// The stream of a connection; nil if the connection has no stream.
    func stream(_ slot: UInt32) -> OpenStream? { connections[id(slot)]?.stream }

    /// The phase of a connection's stream; nil if the connection has no stream.
    func phase(_ slot: UInt32) -> SubscriberState.Phase? { stream(slot)?.state.phase }

    /// Removes and returns the stream of a connection; nil if the connection has no stream.
    mutating func remove(_ slot: UInt32) -> StreamTable.Leaver? {
        connections[id(slot)].flatMap { table.remove($0) }
    }

    func id(_ slot: UInt32) -> ConnectionID { ConnectionID(slot: slot, generation: 1) }

    mutating func join(_ slot: UInt32, group: GroupID? = nil, at joined: StreamSlot? = nil, cursor: String = "c0") {
        let join = StreamJoin(
            stream: StreamID(loop: 0, id(slot)),
            slot: joined ?? .group(group ?? self.group),
            source: .session(SessionKey(app: "a", id: "s"), StreamTopic(paths: [])),
            first: .none,
            cursor: cursor
        )
        let facts = OpenStream.Facts(
            token: 1,
            opened: 0,
            expires: 1_000,
            credential: nil,
            isCompressed: isCompressed,
            isChunked: isChunked
        )
        let connection = connections[id(slot)] ?? ClientConnection(id(slot), from: PeerAddress.IP(v4: slot))
        connections.open(connection)
        _ = table.put(connection, join, .sent, text: nil, facts: facts, now: now, coder)
    }

    mutating func deliver(_ bytes: [UInt8], _ cursor: String, to group: GroupID? = nil) {
        table.deliver(StreamBlock(bytes.span, account: account), cursor: cursor, to: group ?? self.group)
    }

    /// Writes within a budget, and returns the rest of it.
    @discardableResult
    mutating func flush(budget: Int = 1_000) -> Int {
        var budget = budget
        let laggards = table.flush(to: transport, now: now, budget: &budget, bytesMax: bytesMax, coder)
        for id in laggards {
            guard let stream = connections[id]?.stream,
                table.update(stream, { $0.didFallBehind() }) == .leaveGroup
            else { continue }
            _ = table.takeOut(stream, as: stream.state)
        }
        return budget
    }

    /// Gives the socket of a stream room for this number of bytes.
    mutating func drain(_ slot: UInt32, room: Int = .max) -> SubscriberState.Action? {
        transport.room[id(slot)] = room
        guard let stream = stream(slot) else { return nil }
        let action = table.update(stream) { $0.didDrain() }
        if action == .writeRest { table.writeRest(stream, to: transport, coder) }
        return action
    }
}

/// The content of a body in chunks; nil for malformed framing.
///
/// `isEnded` is true if the body has its last chunk.
func dechunked(_ bytes: [UInt8]) -> (content: [UInt8], isEnded: Bool)? {
    var (rest, content) = (bytes[...], [UInt8]())
    let lineEnd = Array("\r\n".utf8)
    while let end = rest.firstRange(of: lineEnd) {
        let digits = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
        guard let size = Int(digits, radix: 16), digits == String(size, radix: 16) else { return nil }
        rest = rest[end.upperBound...]
        guard rest.count >= size + 2, rest.dropFirst(size).starts(with: lineEnd) else { return nil }
        content += rest.prefix(size)
        rest = rest.dropFirst(size + 2)
        if size == 0 { return rest.isEmpty ? (content, true) : nil }
    }
    return rest.isEmpty ? (content, false) : nil
}

/// The text of a complete gzip body, as zlib reads it; nil for a body that is no gzip or has a wrong trailer.
func gunzip(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = unsafe z_stream()
    // SAFETY: the stream stays in this frame. zlib keeps pointers into it only until inflateEnd.
    return unsafe withUnsafeMutablePointer(to: &stream) { stream -> [UInt8]? in
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, size) == Z_OK else { return nil }
        defer { unsafe inflateEnd(stream) }
        var (input, output) = (bytes, [UInt8](repeating: 0, count: 1_048_576))
        return unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                unsafe stream.pointee.next_in = input.baseAddress
                unsafe stream.pointee.avail_in = UInt32(input.count)
                unsafe stream.pointee.next_out = output.baseAddress
                unsafe stream.pointee.avail_out = UInt32(output.count)
                guard unsafe inflate(stream, Z_FINISH) == Z_STREAM_END, unsafe stream.pointee.avail_in == 0 else {
                    return nil
                }
                return unsafe Array(output.prefix(output.count - Int(stream.pointee.avail_out)))
            }
        }
    }
}
