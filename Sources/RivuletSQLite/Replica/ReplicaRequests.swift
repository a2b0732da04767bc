internal import RivuletCluster
internal import RivuletSessions

/// Frames that wait for their commit.
final class ApplyRequest: WriteRequest, @unchecked Sendable {
    // SAFETY: after the submission of the request, only the writer uses `outcomes`.
    let byteCount: Int
    private let frames: [PositionedFrame]
    private var outcomes: [OperationOutcome] = []
    private let reply: StorageReply<[OperationOutcome]>

    init(_ frames: [PositionedFrame], _ reply: @escaping StorageReply<[OperationOutcome]>) {
        self.frames = frames
        self.reply = reply
        byteCount = frames.reduce(0) { $1.frame.operations.reduce($0) { $0 + $1.byteCount } }
    }

    /// An error is attributed to the whole copy.
    var key: SessionKey? { nil }

    var purpose: WritePurpose { .apply }

    func write(_ statements: inout WriteStatements) throws(SQLiteError) { outcomes = try statements.apply(frames) }

    func answer() { reply(.success(outcomes)) }

    func refuse(_ error: StorageError) { reply(.failure(error)) }
}
