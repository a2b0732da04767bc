import RivuletBase

/// A snapshot of a large state, or a reset, that a work thread writes for all streams that wait for it.
struct SnapshotWriting: Sendable {
    let key: SharedSnapshots.Key
    let group: StreamGroupKey
    let reason: ResetReason?
    /// The cursor of the snapshot.
    private(set) var cursor: Cursor
    private(set) var state: StateEncoder
    /// Prepares the event for sending.
    let prepare: @Sendable (StreamEvent) -> Void
    /// The number of earlier attempts.
    ///
    /// An attempt fails if the state changes too much while the snapshot is written. Then one `change` event cannot
    /// lead from the snapshot to the present state.
    private(set) var tries = 0

    /// The number of attempts during which the session reduces events; it reduces none during later attempts.
    private static let freeTries = 2

    /// The work that is left after the snapshot was written.
    enum Rest {
        case nothing
        /// More streams wait, for the next turn.
        case more
        /// The snapshot is to be written once more, because the session has changed too much meanwhile.
        case again(SnapshotWriting)
    }

    init(
        key: SharedSnapshots.Key,
        group: StreamGroupKey,
        reason: ResetReason?,
        cursor: Cursor,
        state: StateEncoder,
        prepare: @escaping @Sendable (StreamEvent) -> Void
    ) {
        (self.key, self.group, self.reason) = (key, group, reason)
        (self.cursor, self.state) = (cursor, state)
        self.prepare = prepare
    }

    /// True if the session reduces no events during this attempt, because the state changed too much during the earlier
    /// ones.
    var pausesSession: Bool { tries >= Self.freeTries }

    /// The same job at a later cursor.
    func again(at cursor: Cursor, _ state: StateEncoder) -> SnapshotWriting {
        var next = self
        (next.cursor, next.state, next.tries) = (cursor, state, tries + 1)
        return next
    }

    func write() -> StreamEvent {
        let event = StreamEvent.beginning(with: state.document(), at: group.paths, cursor: cursor, because: reason)
        prepare(event)
        return event
    }
}

/// A stream that is about to join, or that waits for storage or for a snapshot.
struct Subscriber {
    let request: StreamRequest
    let key: StreamGroupKey
}

/// The streams of one session that wait for a snapshot.
struct WaitingStreams {
    /// The most streams that join in one turn.
    static let joinsPerTurnMax = 512

    private var subscribers: [SharedSnapshots.Key: [Subscriber]] = [:]
    private(set) var count = 0

    /// Adds a stream; true if it is the first one, so that the snapshot is to be written.
    mutating func add(_ subscriber: Subscriber, to key: SharedSnapshots.Key) -> Bool {
        count += 1
        subscribers[key, default: []].append(subscriber)
        return subscribers[key]?.count == 1
    }

    /// True if streams wait for the snapshot.
    func has(_ key: SharedSnapshots.Key) -> Bool { subscribers[key] != nil }

    /// Takes streams that wait for the snapshot.
    mutating func take(_ key: SharedSnapshots.Key, atMost countMax: Int = .max) -> [Subscriber] {
        let waiting = subscribers.removeValue(forKey: key) ?? []
        let taken = Array(waiting.prefix(countMax))
        if taken.count < waiting.count { subscribers[key] = Array(waiting.dropFirst(countMax)) }
        count -= taken.count
        return taken
    }
}
