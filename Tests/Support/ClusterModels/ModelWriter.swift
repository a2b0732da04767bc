package import RivuletCluster
package import RivuletSessions
import Synchronization

/// A writer with an array as its log: operations are encoded, decoded and applied to a replica, in order.
///
/// With a replica that answers at once, such as `ModelReplica`, `submit` returns after the operation's answer, unless
/// another one is under way.
package final class ModelWriter: ClusterWriter {
    private let replica: any Replica
    private let splitter: FrameSplitter
    private let state = Mutex(State())

    private struct State {
        var waiting: [Submission] = []
        /// True while a batch is with the replica.
        var isApplying = false
        /// True while a call of `run` is in its loop.
        var isRunning = false
        var log: [[UInt8]] = []
        var link = FrameLink.start
        var refusal: StorageError?
    }

    private struct Submission: Sendable {
        let operation: Operation
        let reply: StorageReply<OperationOutcome>
    }

    /// The most operations in one frame.
    private static let batchMax = 64
    private static let cluster = "model"

    /// Creates a writer with an empty log for an empty replica.
    package init(replica: any Replica, frameBytesMax: Int = 64 << 10) {
        self.replica = replica
        splitter = FrameSplitter(frameBytesMax: frameBytesMax, cluster: Self.cluster)
    }

    /// The frames so far.
    package var log: [[UInt8]] { state.withLock { $0.log } }

    /// An error for all operations from now on, which are not written; nil for none.
    package var refusal: StorageError? {
        get { state.withLock { $0.refusal } }
        set { state.withLock { $0.refusal = newValue } }
    }

    package func submit(_ operation: Operation, byteCount: Int, reply: @escaping StorageReply<OperationOutcome>) {
        let refusal = state.withLock { state in
            if state.refusal == nil { state.waiting.append(Submission(operation: operation, reply: reply)) }
            return state.refusal
        }
        if let refusal { return reply(.failure(refusal)) }
        run()
    }

    /// Applies batches until the replica is busy or none waits.
    private func run() {
        let isFree = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFree else { return }
        while let batch = takeBatch() { apply(batch) }
    }

    private func takeBatch() -> [Submission]? {
        state.withLock { state in
            guard !state.isApplying, !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            let batch = Array(state.waiting.prefix(Self.batchMax))
            state.waiting.removeFirst(batch.count)
            state.isApplying = true
            return batch
        }
    }

    private func apply(_ batch: [Submission]) {
        let frames: [PositionedFrame]
        do throws(FrameError) {
            frames = try write(batch.map(\.operation))
        } catch {
            return finish(batch, .failure(.corrupt(nil, detail: "\(error)")))
        }
        replica.apply(frames, of: .first) { [self] outcomes in finish(batch, outcomes) }
    }

    private func finish(_ batch: [Submission], _ outcomes: Result<[OperationOutcome], StorageError>) {
        switch outcomes {
        case .success(let outcomes):
            for (submission, outcome) in zip(batch, outcomes) { submission.reply(.success(outcome)) }
        case .failure(let error):
            state.withLock { $0.refusal = error }
            for submission in batch { submission.reply(.failure(.indeterminate(detail: "\(error)"))) }
        }
        state.withLock { $0.isApplying = false }
        run()
    }

    /// Writes the frames of operations to the log, and reads them as a replica gets them.
    private func write(_ operations: [Operation]) throws(FrameError) -> [PositionedFrame] {
        var assembler = FrameAssembler()
        var frames: [PositionedFrame] = []
        for content in splitter.contents(of: operations) {
            let (bytes, position) = state.withLock { state in
                let frame = Frame(
                    cluster: Self.cluster,
                    partition: .first,
                    previous: state.link,
                    term: 1,
                    nonce: UInt64(state.log.count),
                    operations: content.operations,
                    part: content.part
                )
                let bytes = FrameCodec.encode(frame)
                state.log.append(bytes)
                state.link = FrameLink(number: frame.number, term: frame.term, hash: FrameCodec.hash(of: bytes))
                return (bytes, LogPosition(rawValue: UInt64(state.log.count)))
            }
            let frame = PositionedFrame(
                position: position,
                frame: try FrameCodec.decode(bytes),
                hash: FrameCodec.hash(of: bytes)
            )
            if let whole = try assembler.add(frame) { frames.append(whole) }
        }
        return frames
    }
}
