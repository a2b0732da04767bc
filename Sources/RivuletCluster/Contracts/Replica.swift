package import RivuletSessions

/// A node's own copy of a partition, which changes by frames of the log alone.
///
/// Every method may be called on any thread, returns at once, and replies on any thread, in the order of the calls.
package protocol Replica: AnyObject, Sendable {
    /// Reads the position of the copy.
    func position(of partition: Partition, reply: @escaping StorageReply<ReplicaPosition>)

    /// Applies frames in order, in one transaction with their last position.
    ///
    /// The frames follow the copy's position; the caller has checked their chain. Their operations are whole, because
    /// the caller passes the log through a `FrameAssembler`; so the frames' numbers may have gaps.
    ///
    /// Applying the same frames to equal copies gives equal copies and equal outcomes. A power cut may take the copy
    /// back to an earlier position, but always to one of its positions.
    ///
    /// The outcomes are those of the operations, in order. Any failure leaves the copy as it was, and the copy takes no
    /// further frames until it is opened again.
    func apply(
        _ frames: [PositionedFrame],
        of partition: Partition,
        reply: @escaping StorageReply<[OperationOutcome]>
    )

    /// Copies the content at the present position into frames, each at most `frameBytesMax` bytes.
    ///
    /// Later applies do not wait for the copy. The frames hold `base` operations only.
    func export(
        _ partition: Partition,
        frameBytesMax: Int,
        reply: @escaping StorageReply<ReplicaExport>
    )

    /// Replaces the content by that of a base, all or nothing.
    func load(_ export: ReplicaExport, of partition: Partition, reply: @escaping StorageReply<Void>)

    /// Makes a hash over the logical content: equal for equal histories, whatever the files look like.
    func contentHash(of partition: Partition, reply: @escaping StorageReply<ContentHash>)
}

/// The state of a copy, stored in the transaction of what it stands for.
package struct ReplicaPosition: Hashable, Sendable {
    /// The identifier of the cluster to which the copy belongs; empty for a new one.
    package var cluster: String
    /// The place of the last applied message.
    package var position: LogPosition
    /// The number, the term and the hash of the last applied frame.
    package var link: FrameLink
    /// The hash over all outcomes since the partition began, which shows copies that have diverged.
    package var outcomes: UInt64
    /// The newest claim that the copy has applied, and its end.
    package var ownership: PartitionOwnership

    package init(
        cluster: String,
        position: LogPosition,
        link: FrameLink,
        outcomes: UInt64,
        ownership: PartitionOwnership = .none
    ) {
        (self.cluster, self.position, self.link, self.outcomes) = (cluster, position, link, outcomes)
        self.ownership = ownership
    }

    /// The position of a copy to which nothing was applied.
    package static let start = ReplicaPosition(cluster: "", position: .start, link: .start, outcomes: 0)
}

/// A frame with its place in the log.
package struct PositionedFrame: Hashable, Sendable {
    package let position: LogPosition
    package let frame: Frame
    /// The hash of the frame, which its successor names.
    package let hash: FrameHash

    package init(position: LogPosition, frame: Frame, hash: FrameHash) {
        (self.position, self.frame, self.hash) = (position, frame, hash)
    }
}

/// The content of a partition at one position.
package struct ReplicaExport: Hashable, Sendable {
    package let position: ReplicaPosition
    package let operations: [[BaseOperation]]

    package init(position: ReplicaPosition, operations: [[BaseOperation]]) {
        (self.position, self.operations) = (position, operations)
    }
}

/// A hash over a partition's logical content, and the position at which it was taken.
package struct ContentHash: Hashable, Sendable {
    package let position: LogPosition
    package let hash: UInt64

    package init(position: LogPosition, hash: UInt64) { (self.position, self.hash) = (position, hash) }
}
