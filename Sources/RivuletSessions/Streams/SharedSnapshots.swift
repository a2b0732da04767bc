import RivuletBase

/// The snapshots that streams of one session began with lately, so that a crowd of streams gets the same bytes.
///
/// A stream may begin with a snapshot that is up to a second old, and with the one change that leads from there to the present.
package struct SharedSnapshots {
    /// The time for which streams that join get the same snapshot.
    static let ageMax = Duration.seconds(1)
    /// A snapshot below this size is written for each stream: that costs less than keeping it.
    package static let bytesMin = 4_096
    /// The most snapshots of a session that are kept.
    static let countMax = 16
    /// The most bytes of them: one snapshot of the largest state, at least.
    static let bytesMax = 25_165_824
    /// A change that has more than this part of the snapshot's bytes is no gain.
    private static let bridgeShare = 4

    /// The name of a snapshot.
    struct Key: Hashable {
        private let view: String?
        private let paths: PathSet
        private let format: StreamFormat
        private let pathsName: String?
        private let reason: ResetReason?

        /// The snapshot of a group's streams, or, with a reason, the reset.
        init(_ group: StreamGroupKey, reason: ResetReason?) {
            (view, paths, format, pathsName) = (group.view, group.paths, group.format, group.pathsName)
            self.reason = reason
        }
    }

    /// A snapshot, or a reset, and what leads from it to a later place.
    private struct Snapshot {
        let event: StreamEvent
        let due: Duration
        /// The place, and the events that lead there.
        var bridge: (cursor: Cursor, events: [StreamEvent])
    }

    private var snapshots: [Key: Snapshot] = [:]
    /// The approximate memory of the snapshots and of the changes behind them, in bytes.
    private(set) var bytes = 0

    var isEmpty: Bool { snapshots.isEmpty }

    /// Keeps a snapshot; false when it is too small, or the others are too many or too large.
    mutating func keep(_ event: StreamEvent, as key: Key, at cursor: Cursor, now: Duration) -> Bool {
        guard event.data.count >= Self.bytesMin else { return false }
        remove(key)
        guard snapshots.count < Self.countMax, bytes + event.data.count <= Self.bytesMax else { return false }
        snapshots[key] = Snapshot(event: event, due: now + Self.ageMax, bridge: (cursor, []))
        bytes += event.data.count
        return true
    }

    /// The events with which a stream begins that is to stand at a place.
    ///
    /// - Parameters:
    ///   - key: The snapshot.
    ///   - cursor: The place.
    ///   - now: The uptime.
    ///   - change: The change from a place to that one, or a reset when it is not known; nil when nothing changed there.
    /// - Returns: Nil when there is no snapshot that is young enough.
    mutating func events(
        of key: Key,
        at cursor: Cursor,
        now: Duration,
        change: (_ position: Cursor.Position) -> StreamEvent?
    ) -> [StreamEvent]? {
        guard let snapshot = snapshots[key], now < snapshot.due, let start = snapshot.event.cursor,
            start.epoch == cursor.epoch
        else { return nil }
        if snapshot.bridge.cursor != cursor {
            let change = change(start.position)
            let changeBytesMax = snapshot.event.data.count / Self.bridgeShare
            guard change?.name != .reset, (change?.data.count ?? 0) < changeBytesMax else {
                remove(key)
                return nil
            }
            let events = change.map { [$0] } ?? []
            bytes += events.bytes - snapshot.bridge.events.bytes
            snapshots[key]?.bridge = (cursor, events)
        }
        return [snapshot.event] + (snapshots[key]?.bridge.events ?? [])
    }

    /// Forgets the snapshots that are too old.
    ///
    /// - Returns: How long the next one is kept from now on; nil when none is left.
    mutating func expire(now: Duration) -> Duration? {
        for (key, snapshot) in snapshots where snapshot.due <= now { remove(key) }
        return snapshots.values.lazy.map(\.due).min().map { $0 - now }
    }

    private mutating func remove(_ key: Key) {
        guard let snapshot = snapshots.removeValue(forKey: key) else { return }
        bytes -= snapshot.event.data.count + snapshot.bridge.events.bytes
    }
}

extension [StreamEvent] {
    fileprivate var bytes: Int { reduce(0) { $0 + $1.data.count } }
}
