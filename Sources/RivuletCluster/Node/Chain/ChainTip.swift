/// The end of the log as this node has read it, with the check that makes each message follow the one before.
struct ChainTip {
    let cluster: String
    let partition: Partition
    private(set) var position: LogPosition
    private(set) var link: FrameLink
    private(set) var ownership: PartitionOwnership
    /// The number of the last frame with a checkpoint, as far as it is known.
    private(set) var checkpoint: UInt64

    init(cluster: String, partition: Partition, at position: ReplicaPosition) {
        (self.cluster, self.partition) = (cluster, partition)
        (self.position, link, ownership) = (position.position, position.link, position.ownership)
        checkpoint = position.link.number
    }

    /// The reason that a message was not accepted.
    enum Fault: Error, Hashable {
        /// Messages between the tip and this one are missing.
        case gap
        /// A node with this message in its log cannot go on; the text names the remedy.
        case broken(String)
    }

    /// Checks a message, and makes it the new tip; nil if the tip is already behind it.
    mutating func accept(
        _ message: LoggedMessage,
        _ coder: FrameCoder,
        _ fault: NodeFault?
    ) throws(Fault) -> PositionedFrame? {
        guard message.position > position else { return nil }
        if let previous = message.previous, previous > position { throw .gap }
        let frame = try decoded(message, coder)
        if fault != .ignoresChain { try check(frame, message) }
        let positioned = PositionedFrame(
            position: message.position,
            frame: frame,
            hash: coder.hash(message.bytes)
        )
        advance(to: positioned)
        return positioned
    }

    private func decoded(_ message: LoggedMessage, _ coder: FrameCoder) throws(Fault) -> Frame {
        do {
            return try coder.decode(message.bytes)
        } catch {
            let place = "the message \(message.position.rawValue) of the log"
            switch error {
            case .newer(let detail): throw .broken("\(place) is of a newer build: \(detail): upgrade this node")
            case .damaged(let detail):
                throw .broken("\(place) is damaged: \(detail): run rivulet cluster reseed --from NODE")
            }
        }
    }

    /// Moves the tip to a frame that follows it: one that was checked, or one of this node.
    mutating func advance(to positioned: PositionedFrame) {
        let frame = positioned.frame
        position = positioned.position
        link = FrameLink(number: frame.number, term: frame.term, hash: positioned.hash)
        for operation in frame.operations {
            ownership.apply(operation)
            if case .checkpoint = operation { checkpoint = frame.number }
        }
    }

    private func check(_ frame: Frame, _ message: LoggedMessage) throws(Fault) {
        guard frame.cluster == cluster, frame.partition == partition else {
            throw .broken(
                "the log has a message of the cluster \(frame.cluster), and this node is of the cluster \(cluster): "
                    + "give each cluster its own NATS account, or its own streams"
            )
        }
        guard frame.number <= link.number + 1 || message.previous == position else { throw .gap }
        guard frame.previous == link else {
            let place = "\(message.position.rawValue) (frame \(frame.number), term \(frame.term))"
            throw .broken(
                "the log has forked: its message \(place) does not follow this node's frame \(link.number) of the "
                    + "term \(link.term): compare the nodes with rivulet cluster check, then run "
                    + "rivulet cluster reseed --from NODE"
            )
        }
        try checkTerm(of: frame)
    }

    /// Checks that only the node of the newest claim writes.
    private func checkTerm(of frame: Frame) throws(Fault) {
        let claims = frame.operations.count { if case .claim = $0 { true } else { false } }
        let isRight: Bool
        if claims == 0 {
            isRight = frame.term == link.term && ownership.claim != nil && ownership.release == nil
        } else {
            isRight = frame.term == link.term + 1 && frame.operations.count == 1
        }
        guard isRight else {
            throw .broken(
                "the frame \(frame.number) of the term \(frame.term) is void: the log has the term \(link.term): "
                    + "compare the nodes with rivulet cluster check, then run rivulet cluster reseed --from NODE"
            )
        }
    }
}

/// The bytes of frames; the standard is `FrameCodec`.
package struct FrameCoder: Sendable {
    package let encode: @Sendable (Frame) -> [UInt8]
    package let decode: @Sendable ([UInt8]) throws(FrameError) -> Frame
    package let hash: @Sendable ([UInt8]) -> FrameHash

    package init(
        encode: @escaping @Sendable (Frame) -> [UInt8],
        decode: @escaping @Sendable ([UInt8]) throws(FrameError) -> Frame,
        hash: @escaping @Sendable ([UInt8]) -> FrameHash
    ) {
        (self.encode, self.decode, self.hash) = (encode, decode, hash)
    }

    package static let standard = FrameCoder(
        encode: FrameCodec.encode,
        decode: { bytes throws(FrameError) in try FrameCodec.decode(bytes) },
        hash: FrameCodec.hash(of:)
    )
}
