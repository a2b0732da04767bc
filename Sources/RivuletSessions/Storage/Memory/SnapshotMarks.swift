/// The versions and schemas of one session's snapshots.
///
/// A migration stores a snapshot of the version that it found, in the newer shape. That version itself was stored in
/// the older shape, and is read from the snapshot before the migration's. Only later versions are read from the
/// migration's snapshot.
package struct SnapshotMarks: Hashable, Sendable {
    /// One snapshot.
    package struct Mark: Hashable, Sendable, Comparable {
        /// The version at which the session had the snapshot's state.
        package let version: UInt64
        /// The schema version of the snapshot's state.
        package let schema: UInt32

        /// Marks a snapshot.
        package init(version: UInt64, schema: UInt32) {
            self.version = version
            self.schema = schema
        }

        package static func < (one: Mark, other: Mark) -> Bool {
            (one.version, one.schema) < (other.version, other.schema)
        }
    }

    /// The marks by version, oldest first; marks of one version by schema.
    private let marks: [Mark]

    /// Takes the marks in any order.
    package init(_ marks: some Sequence<Mark>) {
        self.marks = marks.sorted()
    }

    /// The snapshot from which `version` is read, in the shape in which it was stored; nil if all snapshots are later.
    package func base(of version: UInt64) -> Mark? {
        guard let last = marks.last(where: { $0.version <= version }) else { return nil }
        guard last.version == version else { return last }
        return source(ofVersion: version)
    }

    /// The version up to which entries may be dropped if the entries from `needed` on stay; nil if none may be dropped.
    ///
    /// The snapshots of earlier versions may be dropped with the entries.
    package func base(keepingFrom needed: UInt64) -> UInt64? {
        marks.last { $0.version < needed && source(ofVersion: $0.version)?.version == $0.version }?.version
    }

    /// The snapshot from which a version that has a snapshot is read; nil for a version that has none.
    ///
    /// It is the version's snapshot of the oldest schema, or the preceding snapshot if that has a still older schema.
    private func source(ofVersion version: UInt64) -> Mark? {
        let own = marks.first { $0.version == version }
        guard let own, let before = marks.last(where: { $0 < own }), before.schema < own.schema else { return own }
        return before
    }
}

extension StateSnapshot {
    /// The snapshot without its state.
    var mark: SnapshotMarks.Mark { SnapshotMarks.Mark(version: version, schema: schema) }
}
