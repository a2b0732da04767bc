package import RivuletBase

/// One event of a stream of a store or a value, before it becomes bytes.
package struct SharedEvent: Hashable, Sendable {
    /// The event's name in the stream.
    package let name: String
    /// The version to which the event leads; nil if a reader cannot resume after the event.
    package let version: UInt64?
    /// JSON.
    package let data: [UInt8]
}

/// The point at which a stream begins.
package enum SharedStart: Sendable {
    /// The stream has nothing yet.
    case fresh
    /// The stream has all changes up to a version.
    case after(UInt64)
    /// The stream has a cursor at which it cannot resume, for this reason.
    case lost(ResetReason)
}

/// The events of a feed at one moment.
package struct SharedTake: Sendable {
    /// The events for existing subscribers.
    package var events: [SharedEvent] = []
    /// The first events for a new subscriber.
    package var first: [SharedEvent] = []
    /// The version of all subscribers after these events; nil if none of them can resume.
    package var version: UInt64?
}

/// The source of the events of all streams of one store or value; used by one thread at a time.
package protocol SharedFeed: AnyObject, Sendable {
    /// Takes the events since the last call, and the first events for a subscriber that joins at this moment.
    ///
    /// - Throws: The reason why the store or the value cannot be followed.
    func take(joining start: SharedStart?) throws(SharedError) -> SharedTake

    /// Ends the feed.
    func close()
}
