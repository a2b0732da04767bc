/// One message of a partition's log: operations that are applied together, and their place in the chain.
package struct Frame: Hashable, Sendable {
    /// The identifier of the cluster.
    package var cluster: String
    package var partition: Partition
    /// The number, the term and the hash of the frame before this one.
    package var previous: FrameLink
    /// The claim under which it was written, counted from 1; a claim has the term that it begins.
    package var term: UInt64
    /// A number that differs for each attempt to write a frame, so that the writer knows its own.
    package var nonce: UInt64
    package var operations: [Operation]
    /// A part of an operation that is too large for one frame; nil in a frame of whole operations.
    package var part: OperationPart?

    /// The number of the frame in its partition, from 1.
    package var number: UInt64 { previous.number + 1 }
    /// True if the operation of this frame's part is incomplete, and a later frame continues it.
    package var isContinued: Bool { part.map { !$0.isLast } ?? false }

    package init(
        cluster: String,
        partition: Partition,
        previous: FrameLink,
        term: UInt64,
        nonce: UInt64,
        operations: [Operation],
        part: OperationPart? = nil
    ) {
        (self.cluster, self.partition, self.previous, self.term) = (cluster, partition, previous, term)
        (self.nonce, self.operations, self.part) = (nonce, operations, part)
    }
}

/// Consecutive bytes of one operation, as they are written.
package struct OperationPart: Hashable, Sendable {
    /// The bytes of the whole operation.
    package let total: Int
    /// The bytes of the parts before this one.
    package let offset: Int
    package let bytes: [UInt8]

    package var isLast: Bool { offset + bytes.count == total }

    package init(total: Int, offset: Int, bytes: [UInt8]) {
        (self.total, self.offset, self.bytes) = (total, offset, bytes)
    }
}

/// The end of a chain of frames.
package struct FrameLink: Hashable, Sendable {
    /// The number of the last frame; 0 before the first.
    package var number: UInt64
    /// The term of the last frame.
    package var term: UInt64
    /// The hash of the last frame's bytes.
    package var hash: FrameHash

    package init(number: UInt64, term: UInt64, hash: FrameHash) {
        (self.number, self.term, self.hash) = (number, term, hash)
    }

    /// The end of an empty chain.
    package static let start = FrameLink(number: 0, term: 0, hash: .none)
}

/// The first 16 bytes of the SHA-256 of a frame's bytes.
package struct FrameHash: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// The hash before the first frame.
    package static let none = FrameHash(high: 0, low: 0)
}
