// A base in the log's store is a list of frames, each with base operations only.
//
// The first operation of the first frame is a checkpoint with the hash over all outcomes, which the operations of the
// ownership follow. Every frame names the copy's last frame as its previous one, and its nonce is the number of base
// frames behind it.

internal import RivuletSessions

extension PartitionBase {
    /// Writes a copy as frames of at most `frameBytesMax` bytes.
    package init(_ export: ReplicaExport, of partition: Partition, frameBytesMax: Int) {
        let (position, cluster) = (export.position, export.position.cluster)
        let splitter = FrameSplitter(frameBytesMax: frameBytesMax, cluster: cluster)
        let place = [.checkpoint(outcomes: position.outcomes)] + position.ownership.operations
        let groups = [place] + export.operations.map { $0.map(Operation.base) }
        let contents = groups.flatMap(splitter.contents)
        let frames = contents.enumerated().map { index, content in
            FrameCodec.encode(
                Frame(
                    cluster: cluster,
                    partition: partition,
                    previous: position.link,
                    term: position.link.term,
                    nonce: UInt64(contents.count - 1 - index),
                    operations: content.operations,
                    part: content.part
                )
            )
        }
        self.init(position: position.position, frames: frames)
    }
}

extension ReplicaExport {
    /// Reads the frames of a base.
    ///
    /// - Throws: `.newer` if a newer build made the base. `.damaged` if a frame is damaged, missing or of another base.
    package init(_ base: PartitionBase, of partition: Partition) throws(FrameError) {
        var assembler = FrameAssembler()
        var operations: [[BaseOperation]] = []
        var first: Frame?
        var outcomes: UInt64?
        var ownership = PartitionOwnership.none
        for (index, bytes) in base.frames.enumerated() {
            let frame = try FrameCodec.decode(bytes)
            let begin = first ?? frame
            first = begin
            guard frame.nonce == UInt64(base.frames.count - 1 - index), frame.previous == begin.previous,
                frame.term == begin.term, frame.cluster == begin.cluster, frame.partition == partition
            else { throw .damaged("frame \(index) of \(base.frames.count) is of another base") }
            let positioned = PositionedFrame(position: base.position, frame: frame, hash: .none)
            guard let whole = try assembler.add(positioned)?.frame.operations else { continue }
            if outcomes == nil, case .checkpoint(let hash)? = whole.first {
                outcomes = hash
                for operation in whole.dropFirst() { ownership.apply(operation) }
                continue
            }
            var group: [BaseOperation] = []
            for operation in whole {
                guard case .base(let operation) = operation else {
                    throw .damaged("frame \(index) of the base has an operation that is no part of a base")
                }
                group.append(operation)
            }
            if !group.isEmpty { operations.append(group) }
        }
        guard let first, let outcomes, !assembler.isUnfinished else {
            throw .damaged("the base of \(base.frames.count) frames has no beginning or no end")
        }
        self.init(
            position: ReplicaPosition(
                cluster: first.cluster,
                position: base.position,
                link: first.previous,
                outcomes: outcomes,
                ownership: ownership
            ),
            operations: operations
        )
    }
}
