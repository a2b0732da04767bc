/// A part of the cluster's data with a log of its own.
///
/// A cluster has one partition today; frames and storage name it, so that more can follow.
package struct Partition: Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The only partition of a cluster with one active node.
    package static let first = Partition(rawValue: 0)
}

/// The place of a message in the log of a partition, as the log numbers its messages; it grows, with gaps.
package struct LogPosition: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The place before the first message.
    package static let start = LogPosition(rawValue: 0)

    package static func < (one: LogPosition, other: LogPosition) -> Bool { one.rawValue < other.rawValue }
}

/// A message of a partition's log.
package struct LoggedMessage: Hashable, Sendable {
    package let position: LogPosition
    /// The place of the partition's message before it.
    ///
    /// Nil if the log does not say so, which it does for messages that it delivers while they are written.
    package let previous: LogPosition?
    package let bytes: [UInt8]

    package init(position: LogPosition, previous: LogPosition?, bytes: [UInt8]) {
        (self.position, self.previous, self.bytes) = (position, previous, bytes)
    }
}
