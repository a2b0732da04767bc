import RivuletBase
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import RivuletStores

/// The request of a stream to follow a source.
///
/// The loop of the stream's connection sends it to the loop of the source.
struct StreamSubscription: Sendable {
    let stream: StreamID
    let source: StreamSource
    /// The cursor that the subscriber sent; nil for a new subscriber.
    let resume: String?
    /// The cursor that the stream had with other paths.
    ///
    /// Nothing is resumed from it, but the stream ends if the session of this cursor was deleted.
    var stood: String?
    /// The reason for which the stream's next event has to be a reset; nil if that may be a snapshot.
    var reason: ResetReason?
    /// True if missed changes are sent version by version rather than merged.
    var resumesAll = false
    /// True if the caller's permissions leave out a part of the paths for which the client asked.
    var isMasked = false
    /// True if the stream is compressed.
    var isCompressed = false
    /// True if the stream is open, and asks again because it may have missed events.
    var isOpen = false
}

/// The source that the members of a group follow.
enum StreamSource: Hashable, Sendable {
    /// A session's state or view.
    case session(SessionKey, StreamTopic)
    /// A store or a value.
    case shared(SharedName)
}

extension StreamID {
    /// The id of a connection's stream.
    init(loop: Int, _ id: ConnectionID) {
        self.init(loop: loop, connection: UInt64(id.slot) << 32 | UInt64(id.generation))
    }

    /// The id of the stream that answers a request.
    init(_ exchange: Exchange) { self.init(loop: exchange.loop, exchange.connection) }

    /// The id of the connection on its loop.
    var connectionID: ConnectionID {
        ConnectionID(slot: UInt32(connection >> 32), generation: UInt32(truncatingIfNeeded: connection))
    }
}

/// The error of a stream that its source refuses.
enum StreamError: Sendable {
    case session(SessionStreamError)
    case shared(SharedError)
    /// The refusal of a source on another node.
    case relayed(RelayRefusal)
    /// The first events have more bytes than may wait for a stream.
    case tooLarge(bytes: Int, bytesMax: Int)

    /// The answer to a request for a stream.
    enum Answer {
        /// An event stream with a single `bye`.
        case bye(StreamTurnedAway)
        case response(Response)
    }

    /// The answer to a request for a stream.
    var answer: Answer {
        switch self {
        case .session(.failed(.overloaded)), .session(.full), .shared(.store(.busy)): .bye(.limit)
        case .session(.failed(.draining)), .session(.failed(.storage(.unavailable))): .bye(.draining)
        case .session(.failed(.notServing)): .bye(.draining)
        case .shared(.storage(.closed)), .shared(.storage(.unavailable)): .bye(.draining)
        // The session is about to be deleted, and then a new session may begin under its id.
        case .session(.failed(.deleting)): .bye(.unavailable)
        case .session(.failed(let error)): .response(Response(refusing: error))
        case .session(.gone): .response(Response(.noContent))
        case .shared(let error): .response(Response(refusing: error))
        case .relayed(let refusal): refusal.streamAnswer
        case .tooLarge(let bytes, let bytesMax): .response(Response(.tooLarge(bytes, bytesMax)))
        }
    }

    /// The reason in the `bye` of an open stream that cannot get its missed changes.
    var end: StreamEvent.ByeReason {
        switch self {
        case .session(.gone): .deleted
        case .session(.failed(.notServing)): .draining
        case .session(.failed(.draining)), .session(.failed(.storage(.unavailable))): .draining
        case .session(.failed(.deleting)): .unavailable
        case .session(.full), .session(.failed(.overloaded)): .limit
        case .session(.failed), .shared: .slow
        case .relayed(let refusal): refusal.end
        case .tooLarge: .limit
        }
    }
}

extension Problem {
    /// 400: the first events of a stream have too many bytes.
    static func tooLarge(_ bytes: Int, _ bytesMax: Int) -> Problem {
        Problem(
            .streamTooLarge,
            "these paths have \(bytes) bytes; a stream is sent at most \(bytesMax) at once: watch fewer"
        )
    }
}
