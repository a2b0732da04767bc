/// A parser of the bytes that a NATS server sends; it does no I/O.
///
/// Source: <https://docs.nats.io/reference/reference-protocols/nats-protocol>
package struct NATSParser {
    /// The most bytes of a line without its line break; the longest lines are those of INFO, which name all servers.
    package static let lineBytesMax = 65_536
    /// The most bytes of a message with its headers: the most that a server can be configured for, and some headers.
    package static let messageBytesMax = 67_108_864 + 65_536

    /// The most bytes of memory that are kept after a large message.
    private static let keptBytesMax = 1_048_576

    /// A message of which the line was read, and the content was not.
    private struct Pending {
        let subject: String
        let subscription: UInt64
        let reply: String?
        let headerBytes: Int
        let totalBytes: Int
    }

    private var buffer: [UInt8] = []
    /// The index of the first byte that is not consumed.
    private var start = 0
    /// The index up to which no line break was found.
    private var scanned = 0
    private var pending: Pending?

    package init() {}

    /// Adds received bytes.
    package mutating func append(_ bytes: Span<UInt8>) {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptBytesMax)
            (start, scanned) = (0, 0)
        }
        // The consumed bytes go when they are most of the buffer, so that each byte is moved at most about once.
        if start > 0, start >= buffer.count - start {
            buffer.removeFirst(start)
            scanned -= start
            start = 0
        }
        // SAFETY: the bytes are copied within the call.
        unsafe bytes.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
    }

    /// Takes the next complete message; nil if more bytes are needed.
    ///
    /// - Throws: The reason that the bytes are not the protocol; then the connection has to be closed.
    package mutating func next() throws(NATSProtocolError) -> NATSServerMessage? {
        if let pending { return try content(of: pending) }
        guard let line = try takeLine() else { return nil }
        let (operation, rest) = Self.operation(of: line)
        switch operation {
        case "MSG", "HMSG":
            let pending = try Self.pending(rest, hasHeaders: operation == "HMSG")
            self.pending = pending
            return try content(of: pending)
        case "PING": return .ping
        case "PONG": return .pong
        case "+OK": return .ok
        case "INFO": return .info(try NATSServerInfo(json: Array(rest)))
        case "-ERR":
            let quotes = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "'") }
            let text = quotes.prefix { $0 != UInt8(ascii: "'") }
            return .error(String(decoding: text, as: UTF8.self))
        default: throw .unknownOperation(String(operation.prefix(32)))
        }
    }

    private mutating func takeLine() throws(NATSProtocolError) -> ArraySlice<UInt8>? {
        guard let end = buffer[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
            scanned = buffer.count
            guard buffer.count - start <= Self.lineBytesMax + 1 else {
                throw .lineTooLong(limitBytes: Self.lineBytesMax)
            }
            return nil
        }
        guard end > start, buffer[end - 1] == UInt8(ascii: "\r") else { throw .malformed("a line ends without CR") }
        guard end - 1 - start <= Self.lineBytesMax else { throw .lineTooLong(limitBytes: Self.lineBytesMax) }
        let line = buffer[start..<end - 1]
        (start, scanned) = (end + 1, end + 1)
        return line
    }

    /// The operation's name in upper case, and its arguments.
    private static func operation(of line: ArraySlice<UInt8>) -> (String, ArraySlice<UInt8>) {
        let name = line.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        return (String(decoding: name, as: UTF8.self).uppercased(), line[name.endIndex...])
    }

    private static func pending(
        _ arguments: ArraySlice<UInt8>,
        hasHeaders: Bool
    ) throws(NATSProtocolError) -> Pending {
        var parts = arguments.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let sizes = hasHeaders ? 2 : 1
        guard parts.count == 2 + sizes || parts.count == 3 + sizes else {
            throw .malformed("a message's line has \(parts.count) arguments")
        }
        let total = number(parts.removeLast())
        let header = hasHeaders ? number(parts.removeLast()) : 0
        guard let total, let header, header <= total, let subscription = number(parts[1]) else {
            throw .malformed("a message's line has no valid numbers")
        }
        guard total <= messageBytesMax else { throw .messageTooLarge(bytes: total, limitBytes: messageBytesMax) }
        return Pending(
            subject: String(decoding: parts[0], as: UTF8.self),
            subscription: UInt64(subscription),
            reply: parts.count == 3 ? String(decoding: parts[2], as: UTF8.self) : nil,
            headerBytes: header,
            totalBytes: total
        )
    }

    /// The decimal number; nil for other text, and for more than 18 digits.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }

    private mutating func content(of pending: Pending) throws(NATSProtocolError) -> NATSServerMessage? {
        let end = start + pending.totalBytes
        guard buffer.count >= end + 2 else { return nil }
        guard buffer[end] == UInt8(ascii: "\r"), buffer[end + 1] == UInt8(ascii: "\n") else {
            throw .malformed("a message does not end with its line break")
        }
        let body = start + pending.headerBytes
        let headers = pending.headerBytes > 0 ? try NATSHeaders(parsing: buffer[start..<body]) : NATSHeaders()
        let payload = Array(buffer[body..<end])
        (start, scanned) = (end + 2, end + 2)
        self.pending = nil
        return .message(
            NATSMessage(
                subject: pending.subject,
                subscription: pending.subscription,
                reply: pending.reply,
                headers: headers,
                payload: payload
            )
        )
    }
}

/// A message or an answer that a NATS server sends.
package enum NATSServerMessage: Hashable, Sendable {
    case info(NATSServerInfo)
    case message(NATSMessage)
    case ping
    case pong
    case ok
    /// An error; the server closes the connection after most of them.
    case error(String)
}

/// A message of a subscription.
package struct NATSMessage: Hashable, Sendable {
    package let subject: String
    package let subscription: UInt64
    package let reply: String?
    package let headers: NATSHeaders
    package let payload: [UInt8]

    package init(
        subject: String,
        subscription: UInt64,
        reply: String? = nil,
        headers: NATSHeaders = NATSHeaders(),
        payload: [UInt8]
    ) {
        (self.subject, self.subscription, self.reply) = (subject, subscription, reply)
        (self.headers, self.payload) = (headers, payload)
    }
}

/// The reason that received bytes are not the protocol of NATS.
package enum NATSProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
    case lineTooLong(limitBytes: Int)
    case messageTooLarge(bytes: Int, limitBytes: Int)
    case unknownOperation(String)
    case malformed(String)

    package var description: String {
        switch self {
        case .lineTooLong(let limit): "The server sent a line of more than \(limit) bytes."
        case .messageTooLarge(let bytes, let limit):
            "The server sent a message of \(bytes) bytes, more than \(limit)."
        case .unknownOperation(let name): "The server sent the unknown operation \"\(name)\"."
        case .malformed(let detail): "The server sent bytes that are not the NATS protocol: \(detail)."
        }
    }
}
