package import RivuletBase

/// One event of a stream of a store or a value, before it becomes bytes.
package struct SharedEvent: Hashable, Sendable {
    /// Its name in the stream.
    package let name: String
    /// The version that it leads to; nil: one who has it has nothing to go on from.
    package let version: UInt64?
    /// JSON.
    package let data: [UInt8]
}

/// Where a stream begins.
package enum SharedStart: Sendable {
    /// It has nothing.
    case fresh
    /// It has everything up to a version.
    case after(UInt64)
    /// It has something that no version stands for.
    case lost(ResetReason)
}

/// What a feed gives at one moment.
package struct SharedTake: Sendable {
    /// What those get who follow already.
    package var events: [SharedEvent] = []
    /// What one gets who comes now.
    package var first: [SharedEvent] = []
    /// Where everybody stands then; nil: nobody has anything to go on from.
    package var version: UInt64?
}

/// What all streams of one store or value are fed from; used by one thread at a time.
package protocol SharedFeed: AnyObject, Sendable {
    /// Takes what has happened since it was taken last, and what one gets first who comes at this moment.
    ///
    /// - Throws: why there is nothing to follow.
    func take(joining start: SharedStart?) throws(SharedError) -> SharedTake

    /// Ends it.
    func close()
}
