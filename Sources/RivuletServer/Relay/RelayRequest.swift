import RivuletBase
import RivuletJSON
import RivuletSessions

/// A request of streams to their source on another node.
enum RelayRequest: Hashable, Sendable {
    /// Streams want to follow the source; `number` names the request in the answers.
    case ask(number: UInt64, RelayTopic)
    /// No stream of the loop follows the group any more; the source counts `count` members on the loop.
    case leave(RelaySource, GroupID, count: Int)

    /// The most members of one group on one loop.
    static let membersMax = 16_777_216

    private enum Kind: UInt8 {
        case ask, leave
    }

    func write(to writer: inout RelayWriter) {
        switch self {
        case .ask(let number, let topic):
            writer.add(byte: Kind.ask.rawValue)
            writer.add(number)
            topic.write(to: &writer)
        case .leave(let source, let group, let count):
            writer.add(byte: Kind.leave.rawValue)
            source.write(to: &writer)
            writer.add(group.rawValue)
            writer.add(count: count)
        }
    }

    init(_ reader: inout RelayReader) throws(RelayError) {
        switch Kind(rawValue: try reader.byte()) {
        case .ask: self = .ask(number: try reader.number(), try RelayTopic(&reader))
        case .leave:
            self = .leave(
                try RelaySource(&reader),
                GroupID(rawValue: try reader.number()),
                count: try reader.number(atMost: Self.membersMax)
            )
        case nil: throw RelayError("there is no such kind of requests")
        }
    }
}

/// The session, the store or the value that streams of another node follow.
enum RelaySource: Hashable, Sendable {
    case session(SessionKey)
    case shared(SharedName)

    private enum Kind: UInt8 {
        case session, store, value
    }

    init(_ source: StreamSource) {
        self =
            switch source {
            case .session(let key, _): .session(key)
            case .shared(let shared): .shared(shared)
            }
    }

    func write(to writer: inout RelayWriter) {
        let (kind, app, name): (Kind, String, String) =
            switch self {
            case .session(let key): (.session, key.app, key.id)
            case .shared(let shared): (shared.kind == .store ? .store : .value, shared.app, shared.name)
            }
        writer.add(byte: kind.rawValue)
        writer.add(app)
        writer.add(name)
    }

    init(_ reader: inout RelayReader) throws(RelayError) {
        let kind = Kind(rawValue: try reader.byte())
        let (app, name) = (try reader.text(), try reader.text())
        switch kind {
        case .session: self = .session(SessionKey(app: app, id: name))
        case .store: self = .shared(SharedName(app, .store, name))
        case .value: self = .shared(SharedName(app, .value, name))
        case nil: throw RelayError("there is no such kind of sources")
        }
    }
}

/// The properties of a subscription that its answer depends on.
///
/// Open streams with equal topics share one request.
struct RelayTopic: Hashable, Sendable {
    let source: StreamSource
    let resume: String?
    let stood: String?
    let reason: ResetReason?
    let resumesAll: Bool
    let isMasked: Bool
    let isOpen: Bool

    /// Takes the properties; the topic of a session gets the form that the session's answer has.
    init(_ subscription: StreamSubscription) {
        source =
            switch subscription.source {
            case .session(let key, let topic): .session(key, topic.normal)
            case .shared: subscription.source
            }
        (resume, stood, reason) = (subscription.resume, subscription.stood, subscription.reason)
        (resumesAll, isMasked, isOpen) = (subscription.resumesAll, subscription.isMasked, subscription.isOpen)
    }

    /// The subscription of a stream.
    ///
    /// For the source of a remote stream it is not compressed, because the stream's own node compresses.
    func subscription(of stream: StreamID, isCompressed: Bool = false) -> StreamSubscription {
        StreamSubscription(
            stream: stream,
            source: source,
            resume: resume,
            stood: stood,
            reason: reason,
            resumesAll: resumesAll,
            isMasked: isMasked,
            isCompressed: isCompressed,
            isOpen: isOpen
        )
    }

    func write(to writer: inout RelayWriter) {
        RelaySource(source).write(to: &writer)
        if case .session(_, let topic) = source {
            writer.add(topic.view)
            writer.add(count: topic.paths.count)
            for path in topic.paths { writer.add(path.description) }
            writer.add(topic.format.rawValue)
            writer.add(optional: topic.interval) { $0.add($1.milliseconds) }
            writer.add(topic.isRepathed)
        }
        writer.add(resume)
        writer.add(stood)
        writer.add(reason?.rawValue)
        writer.add(resumesAll)
        writer.add(isMasked)
        writer.add(isOpen)
    }

    init(_ reader: inout RelayReader) throws(RelayError) {
        source =
            switch try RelaySource(&reader) {
            case .session(let key): .session(key, try Self.topic(&reader))
            case .shared(let shared): .shared(shared)
            }
        resume = try reader.optionalText()
        stood = try reader.optionalText()
        reason = try reader.optional { reader throws(RelayError) in try reader.choice(of: ResetReason.self) }
        resumesAll = try reader.flag()
        isMasked = try reader.flag()
        isOpen = try reader.flag()
    }

    private static func topic(_ reader: inout RelayReader) throws(RelayError) -> StreamTopic {
        StreamTopic(
            view: try reader.optionalText(),
            paths: try reader.list { reader throws(RelayError) in
                let text = try reader.text()
                do throws(JSONError) {
                    return try JSONPointer(parsing: text)
                } catch {
                    throw RelayError("\"\(text)\" is no key path: \(error)")
                }
            },
            format: try reader.choice(of: StreamFormat.self),
            interval: try reader.optional { reader throws(RelayError) in
                .milliseconds(try reader.number(atMost: ChangesEndpoint.intervalRange.upperBound))
            },
            isRepathed: try reader.flag()
        )
    }
}
