package import RivuletJSON

/// Takes an answer, on the shard's thread.
package typealias SessionReply<Answer> = (Result<Answer, SessionError>) -> Void

/// One resident session.
///
/// Every call and every reply is on the shard's thread.
package protocol HostedSession: AnyObject {
    var key: SessionKey { get }
    /// Whether storage knows it.
    var isStored: Bool { get }
    /// Whether nothing is queued, under way or watching, so that it may leave memory.
    var isIdle: Bool { get }
    /// Whether it is known, without a look at the state, that something holds it in memory.
    var isHeld: Bool { get }
    /// The memory that it takes, roughly, in bytes.
    var memoryBytes: Int { get }
    /// The uptime of the last request.
    var lastUsed: Duration { get }
    /// Called when the session must leave memory at once: deleted, or in doubt about what storage holds.
    var onRetire: ((_ session: any HostedSession, _ deletedEpoch: String?) -> Void)? { get set }

    /// Runs the events of the body as one transaction, after everything that is queued; replies when it is durable and published.
    func dispatch(_ request: DispatchRequest, reply: @escaping SessionReply<DispatchAnswer>)
    /// As `dispatch(_:reply:)`, but once for all requests with the claim's key: a retry gets the first answer again.
    ///
    /// A dispatch that fails keeps nothing: a retry is a first request then.
    func dispatch(_ request: DispatchRequest, once claim: IdempotencyClaim, reply: @escaping SessionReply<OnceAnswer>)
    /// The visible value at the path.
    func read(_ path: JSONPointer) -> Result<StateAnswer, SessionError>
    /// The value at the path as it was at a version; transient fields have their defaults, as after a restart.
    ///
    /// The answer's cursor is the short one, of that version.
    func read(_ path: JSONPointer, at version: UInt64, reply: @escaping SessionReply<StateAnswer>)
    /// The log after a version, or from its beginning: at most so many entries, and fewer when they are large.
    func readLog(after version: UInt64?, limit: Int, reply: @escaping SessionReply<LogPage>)
    /// The stored fields as they were at a version, as a document to begin another session with; nil: the newest durable version.
    func document(at version: UInt64?, reply: @escaping SessionReply<[UInt8]>)
    /// A view object, or, for nil, all of them by their names.
    func readView(_ name: String?) -> Result<StateAnswer, SessionError>
    func info() -> SessionInfo
    /// Stores the session at version 0 if it is not stored yet; `state` is a partial document over the default, at its place in a body.
    ///
    /// A strict creation is refused when a wrapper would change a value of it.
    func create(state: JSONReader?, isStrict: Bool, reply: @escaping SessionReply<CreateAnswer>)
    /// Removes state and log once everything accepted before is done, and ends all streams.
    func delete(reply: @escaping SessionReply<Void>)
    /// Adds a subscriber; the answer goes through the sink.
    func subscribe(_ request: StreamRequest)
    /// Takes back one membership of that loop.
    func leave(_ group: GroupID, loop: Int)
    /// Leaves memory although it is watched, and gives what is needed to come back; nil when something holds it there.
    func park() -> ParkedSession?
    /// Takes the streams of an earlier residence before anything else; false: this is not the state that they have seen.
    func resume(_ parked: ParkedSession) -> Bool
    /// Begins to store a snapshot of a session without work that is about to leave memory, where that is worth a write; false: it is not, or there is work.
    func compactBeforeLeaving() -> Bool
    /// Says that the shard has it: effects that follow from this begin.
    func didEnterMemory()
    /// Cancels all effects, and begins none any more; whatever one still dispatches is dropped.
    func stopEffects()
    /// Says that the shard has let go of it, which ends its effects.
    func leaveMemory()
    /// Ends all streams, because the session leaves memory.
    func endStreams(because reason: StreamEvent.ByeReason)
    /// Takes no more streams, because the server stops; those that there are go on until their loops end them.
    func refuseStreams()
}
