import RivuletCluster

/// A message of a peer that cannot be read; the receiver drops it.
struct MalformedMessageError: Error, Equatable {}

/// A message about requests: a kind, the number of the exchange, and a part of its content.
///
/// Its bytes are the kind, the number (8 bytes), the index of the part and the count of parts (4 bytes each), and the
/// part. Integers begin with their high byte.
struct PeerMessage {
    /// The kind, in the first byte.
    enum Kind: UInt8, CaseIterable {
        /// A request for the owner, or for the node of a stream.
        case request = 32
        /// The answer to a request.
        case answer
        /// The request was not taken, because the node is not its owner any more.
        case moved
        /// The request was not taken, because the node has no room for it.
        case full
        /// A ticket that the node has made.
        case ticketQuestion
        case ticketAnswer
        /// A ticket was opened, and no stream has begun.
        case ticketReturn
    }

    /// The bytes before the part.
    static let headBytes = 17
    /// The most parts of a content.
    static let partsMax = 65_536

    let kind: Kind
    let number: UInt64
    let index: Int
    let count: Int
    let part: ArraySlice<UInt8>

    /// Reads a message; nil for bytes that are none.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headBytes, let kind = Kind(rawValue: bytes[0]) else { return nil }
        let (index, count) = (Int(Self.integer(bytes[9..<13])), Int(Self.integer(bytes[13..<17])))
        guard (1...Self.partsMax).contains(count), index < count else { return nil }
        (self.kind, number, self.index, self.count) = (kind, Self.integer(bytes[1..<9]), index, count)
        part = bytes[Self.headBytes...]
    }

    /// Returns the messages of a content, each with at most `bytesMax` bytes.
    static func parts(_ kind: Kind, _ number: UInt64, _ content: [UInt8], bytesMax: Int) -> [[UInt8]] {
        let partBytes = max(bytesMax - headBytes, 1)
        let count = max((content.count + partBytes - 1) / partBytes, 1)
        return (0..<count).map { index in
            let part = content[min(index * partBytes, content.count)..<min((index + 1) * partBytes, content.count)]
            var writer = MessageWriter(capacity: headBytes + part.count)
            writer.byte(kind.rawValue)
            writer.integer(number)
            writer.integer(UInt32(index))
            writer.integer(UInt32(count))
            writer.rest(part)
            return writer.bytes
        }
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// Writes the content of messages.
struct MessageWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 64) { bytes.reserveCapacity(capacity) }

    mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    mutating func integer(_ value: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends bytes with their count before them.
    mutating func counted(_ content: some Collection<UInt8>) {
        integer(UInt32(content.count))
        bytes += content
    }

    /// Appends the last bytes.
    mutating func rest(_ content: some Collection<UInt8>) { bytes += content }
}

/// Reads the content of messages, and never reads beyond its end.
struct MessageReader {
    private var left: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { left = bytes }

    mutating func byte() throws(MalformedMessageError) -> UInt8 {
        guard let byte = left.popFirst() else { throw MalformedMessageError() }
        return byte
    }

    mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(
        _ type: Value.Type
    ) throws(MalformedMessageError) -> Value {
        try take(Value.bitWidth / 8).reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) }
    }

    /// Reads bytes with their count before them.
    mutating func counted() throws(MalformedMessageError) -> ArraySlice<UInt8> {
        try take(Int(try integer(UInt32.self)))
    }

    mutating func text() throws(MalformedMessageError) -> String {
        guard let text = String(validating: try counted(), as: UTF8.self) else { throw MalformedMessageError() }
        return text
    }

    mutating func take(_ count: Int) throws(MalformedMessageError) -> ArraySlice<UInt8> {
        guard count <= left.count else { throw MalformedMessageError() }
        defer { left = left.dropFirst(count) }
        return left.prefix(count)
    }

    /// Reads all remaining bytes.
    mutating func rest() -> ArraySlice<UInt8> {
        defer { left = [] }
        return left
    }
}

/// Joins the parts of messages.
///
/// The parts of one content come in their order. A lost part loses the whole content.
struct MessageAssembly {
    /// The most contents of which parts are missing.
    static let contentsMax = 4_096
    /// The time in which all parts have to come, in milliseconds.
    static let timeMax: UInt64 = 10_000

    /// The outcome of a part.
    enum Step {
        case complete([UInt8])
        case incomplete
        /// The content cannot become complete.
        case lost
        /// There is no room for the content.
        case full
    }

    private struct Key: Hashable {
        let sender: ClusterPeer
        let number: UInt64
    }

    private struct Content {
        var bytes: [UInt8]
        var next: Int
        let count: Int
        let began: UInt64
    }

    private let bytesMax: Int
    private var contents: [Key: Content] = [:]
    /// The bytes of all contents.
    private(set) var bytes = 0
    /// The time of the last search for late contents.
    private var swept: UInt64 = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Adds a part; `now` is in milliseconds.
    mutating func add(_ message: PeerMessage, from sender: ClusterPeer, now: UInt64) -> Step {
        let key = Key(sender: sender, number: message.number)
        if message.index == 0 { drop(key) }
        if now >= swept + Self.timeMax { dropLate(now) }
        if message.count == 1 { return .complete(Array(message.part)) }
        guard bytes + message.part.count <= bytesMax else {
            drop(key)
            return .full
        }
        if message.index == 0 {
            guard contents.count < Self.contentsMax else { return .full }
            contents[key] = Content(bytes: Array(message.part), next: 1, count: message.count, began: now)
            bytes += message.part.count
            return .incomplete
        }
        guard let content = contents[key], content.next == message.index, content.count == message.count else {
            drop(key)
            return .lost
        }
        contents[key]?.bytes += message.part
        contents[key]?.next += 1
        bytes += message.part.count
        guard message.index == message.count - 1, let whole = contents[key]?.bytes else { return .incomplete }
        drop(key)
        return .complete(whole)
    }

    /// Drops contents that wait for parts in vain.
    mutating func dropLate(_ now: UInt64) {
        swept = now
        for (key, content) in contents where now >= content.began + Self.timeMax { drop(key) }
    }

    private mutating func drop(_ key: Key) {
        if let content = contents.removeValue(forKey: key) { bytes -= content.bytes.count }
    }
}
