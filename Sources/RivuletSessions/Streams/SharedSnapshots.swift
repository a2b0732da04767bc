import RivuletBase

/// The recent snapshots with which streams of one session began.
///
/// A stream may begin with a snapshot that is up to a second old, and with the one change that leads from it to the
/// current state.
package struct SharedSnapshots {
    /// The time for which streams that join get the same snapshot.
    static let ageMax = Duration.seconds(1)
    /// A snapshot below this size is written for each stream.
    package static let bytesMin = 4_096
    /// The most bytes of all kept snapshots; one snapshot of a state with the default `stateBytesMax` bytes fits.
    private static let bytesMax = 25_165_824
    /// A change is sent after a snapshot only if it has less than a quarter of the snapshot's bytes.
    private static let bridgeShare = 4
    /// A change below this size is sent after any snapshot.
    private static let bridgeBytesMin = 4_096

    /// The name of a snapshot.
    struct Key: Hashable, Sendable {
        private let view: String?
        private let paths: PathSet
        private let format: StreamFormat
        private let pathsName: String?
        private let reason: ResetReason?
        private let isCompressed: Bool

        /// Names the snapshot of a group's streams or, with a reason, their reset.
        ///
        /// A large snapshot has one key for its compressed form and one for its plain form.
        init(_ group: StreamGroupKey, reason: ResetReason?, isCompressed: Bool) {
            (view, paths, format, pathsName) = (group.view, group.paths, group.format, group.pathsName)
            self.reason = reason
            self.isCompressed = isCompressed
        }
    }

    /// A snapshot, or a reset, and the events that lead from it to a later cursor.
    private struct Snapshot {
        let event: StreamEvent
        /// The later cursor, and the events that lead to it.
        var bridge: (cursor: Cursor, events: [StreamEvent])

        /// The approximate memory, in bytes.
        var bytes: Int { bridge.events.reduce(event.data.count) { $0 + $1.data.count } }
    }

    private var snapshots = RecentTexts<Key, Snapshot>(
        RecentTexts.Limits(ageMax: ageMax, bytesMin: bytesMin, countMax: 16, bytesMax: bytesMax)
    )

    /// The approximate memory of the snapshots and of the changes after them, in bytes.
    var bytes: Int { snapshots.bytes }

    var isEmpty: Bool { snapshots.isEmpty }

    /// Keeps a snapshot; false if it is too small, or if the other snapshots leave no room for it.
    mutating func keep(_ event: StreamEvent, as key: Key, at cursor: Cursor, now: Duration) -> Bool {
        snapshots.keep(Snapshot(event: event, bridge: (cursor, [])), bytes: event.data.count, as: key, now: now)
    }

    /// The events with which a stream begins: a kept snapshot, and the change that leads from it to `cursor`.
    ///
    /// - Parameters:
    ///   - key: The name of the snapshot.
    ///   - cursor: The cursor of the stream after these events.
    ///   - now: The uptime.
    ///   - change: The change from a position to that cursor, or a reset if the change is not known; nil if nothing
    ///     changed.
    /// - Returns: Nil if the snapshot is missing or too old, or if the change from it to the cursor is too large or not
    ///   known.
    mutating func events(
        of key: Key,
        at cursor: Cursor,
        now: Duration,
        change: (_ position: Cursor.Position) -> StreamEvent?
    ) -> [StreamEvent]? {
        guard var snapshot = snapshots.text(key, now: now), let start = snapshot.event.cursor,
            start.epoch == cursor.epoch
        else { return nil }
        if snapshot.bridge.cursor != cursor {
            guard let events = Self.bridge(over: change(start.position), from: snapshot.event) else {
                snapshots.remove(key)
                return nil
            }
            snapshot.bridge = (cursor, events)
            snapshots.replace(key, with: snapshot, bytes: snapshot.bytes)
        }
        return [snapshot.event] + snapshot.bridge.events
    }

    /// The events that follow a snapshot; nil if the change is a reset, or too large compared with the snapshot.
    static func bridge(over change: StreamEvent?, from snapshot: StreamEvent) -> [StreamEvent]? {
        guard let change else { return [] }
        let bytesMax = max(snapshot.data.count / bridgeShare, bridgeBytesMin)
        guard change.name != .reset, change.data.count < bytesMax else { return nil }
        return [change]
    }

    /// Drops the snapshots that are too old.
    ///
    /// - Returns: The time until the next snapshot is too old; nil if none is left.
    mutating func expire(now: Duration) -> Duration? { snapshots.expire(now: now) }
}
