/// Carries stream events from a shard to connections on any loop.
///
/// Called on the shard's thread; calls keep their order.
package protocol StreamSink: AnyObject {
    /// Sends `first` to the stream, which stands at `cursor` then, and says what becomes of it.
    ///
    /// `resumesAll` is whether `first` has every version that the stream missed. A member of a group whose connection is gone by then is
    /// reported back by `Session.leave`.
    func join(
        _ stream: StreamID,
        at place: StreamPlace,
        session: SessionKey,
        topic: StreamTopic,
        first: [StreamEvent],
        cursor: Cursor,
        resumesAll: Bool
    )

    /// Sends the event to the group's members on those loops.
    func deliver(_ event: StreamEvent, to group: GroupID, loops: [Int])

    /// Tells the group's members on those loops why they end, and closes them.
    func end(_ group: GroupID, because reason: StreamEvent.ByeReason, loops: [Int])

    /// Refuses a stream that never became a member.
    func refuse(_ stream: StreamID, with refusal: StreamRefusal)
}

/// Why a stream is not served.
package enum StreamRefusal: Sendable {
    /// An error of the session.
    case failed(SessionError)
    /// The session that the cursor belongs to was deleted: do not come back.
    case gone
    /// No room: an event stream of one `bye`, so that a browser comes back.
    case full
}

/// What becomes of a stream that is sent something of its own.
package enum StreamPlace: Hashable, Sendable {
    /// It is a member of the group, and gets all that is delivered to it from now on.
    case group(GroupID)
    /// It has only a part of what it missed: its carrier asks for more from the cursor once that part is with the kernel.
    case more
    /// It is in no group, and its session joins it later by itself.
    case waiting
}
