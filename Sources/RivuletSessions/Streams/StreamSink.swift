/// Carries stream events from a shard to connections on any loop.
///
/// Called on the shard's thread; calls keep their order.
package protocol StreamSink: AnyObject {
    /// Prepares a large snapshot on a work thread, so that sending it is short.
    func preparation(isCompressed: Bool) -> @Sendable (_ snapshot: StreamEvent) -> Void

    /// Sends `first` to the stream, which is at `cursor` afterwards and continues as `slot` says.
    ///
    /// `resumesAll` is true if `first` has every version that the stream missed. If the stream's connection is already
    /// gone, its loop removes the member again by `SessionShard.leave`.
    func join(
        _ stream: StreamID,
        at slot: StreamSlot,
        session: SessionKey,
        topic: StreamTopic,
        first: [StreamEvent],
        cursor: Cursor,
        resumesAll: Bool
    )

    /// Sends the event to the group's members on the loops.
    func deliver(_ event: StreamEvent, to group: GroupID, loops: [Int])

    /// Sends a `bye` with the reason to the group's members on the loops, and closes their streams.
    func end(_ group: GroupID, because reason: StreamEvent.ByeReason, loops: [Int])

    /// Refuses a stream that never became a member.
    func refuse(_ stream: StreamID, with error: SessionStreamError)
}

/// The error of a stream that a session does not serve.
package enum SessionStreamError: Sendable {
    /// An error of the session.
    case failed(SessionError)
    /// The session of the cursor was deleted, and the client must not reconnect.
    case gone
    /// There is no room; the answer is an event stream with one `bye`, so that a browser reconnects.
    case full
}

/// The way in which a stream continues after it was sent events of its own.
package enum StreamSlot: Hashable, Sendable {
    /// The stream is a member of the group, and gets all events that are delivered to the group from now on.
    case group(GroupID)
    /// The stream has only a part of the changes that it missed.
    ///
    /// Once the kernel has taken that part, the connection's loop asks for more from the cursor.
    case more
    /// The stream is in no group, and its session adds it later by itself.
    case waiting
}
