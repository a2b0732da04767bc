/// The content of one frame: whole operations, or a part of one operation.
package struct FrameContent: Hashable, Sendable {
    package let operations: [Operation]
    package let part: OperationPart?
    /// The number of operations that are complete with this frame.
    package var completedCount: Int { part.map { $0.isLast ? 1 : 0 } ?? operations.count }

    package init(operations: [Operation], part: OperationPart? = nil) {
        (self.operations, self.part) = (operations, part)
    }
}

/// Distributes operations over frames.
///
/// The frames of an operation in parts follow each other, with nothing but empty frames between them. An owner may give
/// the operation up after any part but the last, with `.unavailable` or `.full` as its answer: see `FrameAssembler`.
package struct FrameSplitter: Sendable {
    /// The most bytes that a frame of the cluster has for operations, with 4 bytes for each operation's length.
    package let contentBytesMax: Int

    /// Creates a splitter for frames of at most `frameBytesMax` bytes, which are at least `smallestFrameBytesMax`.
    package init(frameBytesMax: Int, cluster: String) {
        let least = Self.smallestFrameBytesMax
        precondition(frameBytesMax >= least, "frames of \(frameBytesMax) bytes are too small: at least \(least)")
        let frameBytes = FrameCodec.emptyFrameBytesMax(clusterBytes: cluster.utf8.count)
        precondition(frameBytes < least / 2, "a cluster's id of \(cluster.utf8.count) bytes is too long")
        contentBytesMax = frameBytesMax - frameBytes
    }

    /// The least value for the most bytes of a frame.
    package static let smallestFrameBytesMax = 1 << 10

    /// Fills frames with the operations, in order.
    package func contents(of operations: [Operation]) -> [FrameContent] {
        var contents: [FrameContent] = []
        var (waiting, waitingBytes): ([Operation], Int) = ([], 0)
        for operation in operations {
            let byteCount = operation.byteCount + FrameCodec.lengthBytes
            if waitingBytes + byteCount > contentBytesMax, !waiting.isEmpty {
                contents.append(FrameContent(operations: waiting))
                (waiting, waitingBytes) = ([], 0)
            }
            if byteCount > contentBytesMax {
                contents += parts(of: operation)
            } else {
                waiting.append(operation)
                waitingBytes += byteCount
            }
        }
        if !waiting.isEmpty { contents.append(FrameContent(operations: waiting)) }
        return contents
    }

    private func parts(of operation: Operation) -> [FrameContent] {
        let bytes = OperationCodec.encode(operation)
        let partBytes = contentBytesMax - OperationPart.headerBytesMax
        return stride(from: 0, to: bytes.count, by: partBytes).map { offset in
            let part = OperationPart(
                total: bytes.count,
                offset: offset,
                bytes: Array(bytes[offset..<min(offset + partBytes, bytes.count)])
            )
            return FrameContent(operations: [], part: part)
        }
    }
}
