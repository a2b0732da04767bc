/// A message of the relay of streams, from a node with streams to the owner of their sources, or back.
///
/// All messages of one channel have its number. A channel leads from one run of a node to one run of an owner; each
/// direction numbers its messages from 1. The messages are at most once and in order, so a gap in the numbers is the
/// only sign of a loss.
enum RelayMessage: Hashable, Sendable {
    /// To the owner: requests of one loop's streams, and the bytes that were taken since the channel began.
    case requests(RelayRequestMessage)
    /// From the owner: a piece of a batch of events; the batch is complete with its last piece.
    case events(channel: UInt64, number: UInt64, isLast: Bool, ArraySlice<UInt8>)
    /// In both directions: the channel is not known, or has ended.
    case closed(channel: UInt64)
    /// From the owner: the number of its last message, as an answer to a request for it.
    case last(channel: UInt64, number: UInt64)

    /// The version of all messages, their second byte.
    static let version: UInt8 = 1
    /// The most bytes of a message of events in addition to its piece.
    static let headBytesMax = 32

    /// The first byte of each message, one of the relay's 1 to 31.
    private enum Kind: UInt8 {
        case requests = 1
        case events, closed, last
    }

    var bytes: [UInt8] {
        var writer = RelayWriter()
        writer.add(byte: kind.rawValue)
        writer.add(byte: Self.version)
        switch self {
        case .requests(let message): message.write(to: &writer)
        case .events(let channel, let number, let isLast, let piece):
            writer.add(channel)
            writer.add(number)
            writer.add(isLast)
            writer.add(piece)
        case .closed(let channel): writer.add(channel)
        case .last(let channel, let number):
            writer.add(channel)
            writer.add(number)
        }
        return writer.bytes
    }

    private var kind: Kind {
        switch self {
        case .requests: .requests
        case .events: .events
        case .closed: .closed
        case .last: .last
        }
    }

    init(_ bytes: [UInt8]) throws(RelayError) {
        var reader = RelayReader(bytes[...])
        let (kind, version) = (try reader.byte(), try reader.byte())
        guard version == Self.version else {
            throw RelayError("it has the version \(version), and this build reads \(Self.version): upgrade the node")
        }
        switch Kind(rawValue: kind) {
        case .requests: self = .requests(try RelayRequestMessage(&reader))
        case .events:
            self = .events(
                channel: try reader.number(),
                number: try reader.number(),
                isLast: try reader.flag(),
                try reader.bytes()
            )
        case .closed: self = .closed(channel: try reader.number())
        case .last: self = .last(channel: try reader.number(), number: try reader.number())
        case nil: throw RelayError("there is no kind \(kind): upgrade the node")
        }
        guard reader.isAtEnd else { throw RelayError("\(reader.remaining) bytes follow its last field") }
    }
}

/// Requests of one loop's streams to the owner of their sources.
struct RelayRequestMessage: Hashable, Sendable {
    let channel: UInt64
    /// The run of the owner for which the message is meant.
    let target: UInt64
    let number: UInt64
    /// The bytes of events that the node's loops have taken since the channel began.
    let taken: UInt64
    /// True if the owner is to answer with the number of its last message.
    let asksForLast: Bool
    /// The index of the loop on the node.
    let loop: Int
    let requests: [RelayRequest]

    /// The most loops of a node.
    static let loopsMax = 65_536

    init(
        channel: UInt64,
        target: UInt64,
        number: UInt64,
        taken: UInt64,
        asksForLast: Bool,
        loop: Int = 0,
        requests: [RelayRequest] = []
    ) {
        (self.channel, self.target, self.number, self.taken) = (channel, target, number, taken)
        (self.asksForLast, self.loop, self.requests) = (asksForLast, loop, requests)
    }

    fileprivate func write(to writer: inout RelayWriter) {
        writer.add(channel)
        writer.add(target)
        writer.add(number)
        writer.add(taken)
        writer.add(asksForLast)
        writer.add(count: loop)
        writer.add(count: requests.count)
        for request in requests { request.write(to: &writer) }
    }

    fileprivate init(_ reader: inout RelayReader) throws(RelayError) {
        self.init(
            channel: try reader.number(),
            target: try reader.number(),
            number: try reader.number(),
            taken: try reader.number(),
            asksForLast: try reader.flag(),
            loop: try reader.number(atMost: Self.loopsMax - 1),
            requests: try reader.list { reader throws(RelayError) in try RelayRequest(&reader) }
        )
    }
}
