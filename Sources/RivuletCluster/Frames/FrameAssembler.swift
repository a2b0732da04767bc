/// Puts operations together that were written in parts, as a node reads the frames of a log.
///
/// The frames of such an operation become one frame with the whole operation, which has the place, the header and the
/// hash of the last of them. So a replica never stands in the middle of an operation, and a node that starts again
/// reads all its parts again.
package struct FrameAssembler: Sendable {
    private var unfinished: Unfinished?

    /// The parts so far of an operation.
    private struct Unfinished: Sendable {
        let term: UInt64
        let total: Int
        var bytes: [UInt8]
    }

    package init() {}

    /// True if the frames so far end within an operation.
    package var isUnfinished: Bool { unfinished != nil }

    /// Takes the next frame of the log, and returns a frame to apply.
    ///
    /// Nil means that the frame becomes a part of a later one, or that it is empty between two parts. Every other frame
    /// that does not continue the parts voids them, such as a claim: no operation is answered before its last part.
    ///
    /// - Throws: `.newer` if the whole operation is of an unknown kind. `.damaged` if a part continues nothing.
    package mutating func add(_ positioned: PositionedFrame) throws(FrameError) -> PositionedFrame? {
        let frame = positioned.frame
        if frame.term != unfinished?.term || frame.part?.offset == 0 || !frame.operations.isEmpty { unfinished = nil }
        guard let part = frame.part else {
            // The owner writes empty frames to find out if its last frame was written.
            return unfinished == nil ? positioned : nil
        }
        try add(part, of: frame)
        guard part.isLast, let bytes = unfinished?.bytes else { return nil }
        unfinished = nil
        var whole = frame
        whole.part = nil
        whole.operations = [try OperationCodec.decode(bytes)]
        return PositionedFrame(position: positioned.position, frame: whole, hash: positioned.hash)
    }

    private mutating func add(_ part: OperationPart, of frame: Frame) throws(FrameError) {
        guard part.total <= Operation.bytesMax else {
            throw .damaged("frame \(frame.number) has a part of \(part.total) bytes: at most \(Operation.bytesMax)")
        }
        guard part.offset > 0 || unfinished != nil else {
            unfinished = Unfinished(term: frame.term, total: part.total, bytes: part.bytes)
            return
        }
        guard unfinished?.total == part.total, unfinished?.bytes.count == part.offset else {
            throw .damaged(
                "frame \(frame.number) has a part at byte \(part.offset) of \(part.total), which continues "
                    + "nothing: \(unfinished?.bytes.count ?? 0) bytes are there"
            )
        }
        unfinished?.bytes += part.bytes
    }
}
