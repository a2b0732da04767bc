/// The versions and schemas of one session's snapshots.
///
/// A migration stores a snapshot of the version that it found, in the newer shape. That version itself was stored in the older shape: it is
/// read from the snapshot before, and only later versions are read from the migration's.
package struct SnapshotMarks: Hashable, Sendable {
    /// One snapshot.
    package struct Mark: Hashable, Sendable, Comparable {
        /// The version after which the state is as the snapshot has it.
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

    /// Oldest version first; those of one version by their schemas.
    private let marks: [Mark]

    /// Takes the marks in any order.
    package init(_ marks: some Sequence<Mark>) {
        self.marks = marks.sorted()
    }

    /// The snapshot from which the log leads to a version in the shape in which it was stored; nil: there is none so early.
    package func base(of version: UInt64) -> Mark? {
        guard let last = marks.last(where: { $0.version <= version }) else { return nil }
        guard last.version == version else { return last }
        return source(ofVersion: version)
    }

    /// The version up to which entries may go, with the snapshots before it, when those from `needed` on stay; nil: no entry may go.
    package func base(keepingFrom needed: UInt64) -> UInt64? {
        marks.last { $0.version < needed && source(ofVersion: $0.version)?.version == $0.version }?.version
    }

    /// Where a version that has a snapshot is read from: the oldest schema's, or the snapshot before where that one is of an older schema yet.
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
