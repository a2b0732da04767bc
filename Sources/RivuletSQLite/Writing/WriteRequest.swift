internal import RivuletSessions
internal import RivuletStores

/// A write that waits for its commit.
///
/// One thread at a time has it: the one that submits it, then the writer.
protocol WriteRequest: AnyObject, Sendable {
    /// The session whose fault a failure of this write alone is.
    var key: SessionKey? { get }
    /// The collection whose keys the write has to know.
    var collection: ItemKey? { get }
    var byteCount: Int { get }
    /// Whether it may wait until another thread has read these keys; false: it reads by itself those that are missing still.
    var mayWaitForKeys: Bool { get }

    /// Ends its waiting for keys.
    func stopWaitingForKeys()

    /// Writes inside a transaction; once more when that was rolled back for the fault of another write.
    func write(_ statements: inout WriteStatements) throws(SQLiteError)

    /// Answers the write, which is durable now.
    func answer()

    /// Answers a write that was not tried, or that failed.
    func refuse(_ error: StorageError)
}

extension WriteRequest {
    var collection: ItemKey? { nil }

    var mayWaitForKeys: Bool { false }

    func stopWaitingForKeys() {}
}

/// A write with its outcome; an object, so that it is handed on without a copy.
final class Write<Outcome: Sendable>: WriteRequest, @unchecked Sendable {
    // SAFETY: the variables are the writer's from the request's submission on, and its maker does not touch them before that.
    let key: SessionKey?
    let collection: ItemKey?
    let byteCount: Int
    private(set) var mayWaitForKeys = true
    private var outcome: Result<Outcome, StorageError> = .failure(.closed)
    private let reply: StorageReply<Outcome>
    private let body: @Sendable (inout WriteStatements) throws(SQLiteError) -> Outcome

    init(
        _ key: SessionKey?,
        in collection: ItemKey?,
        byteCount: Int,
        _ reply: @escaping StorageReply<Outcome>,
        _ body: @escaping @Sendable (inout WriteStatements) throws(SQLiteError) -> Outcome
    ) {
        self.key = key
        self.collection = collection
        self.byteCount = byteCount
        self.reply = reply
        self.body = body
    }

    func stopWaitingForKeys() { mayWaitForKeys = false }

    func write(_ statements: inout WriteStatements) throws(SQLiteError) {
        outcome = .success(try body(&statements))
    }

    func answer() { reply(outcome) }

    func refuse(_ error: StorageError) { reply(.failure(error)) }
}

/// An append, which nearly every write is: a type of its own, because code for any outcome looks up its metadata each time.
final class AppendRequest: WriteRequest, @unchecked Sendable {
    // SAFETY: `outcome` is the writer's from the request's submission on.
    private let session: SessionKey
    private let point: AppendPoint
    private let entries: [LogEntry]
    private let answers: KeptAnswers
    let byteCount: Int
    private var outcome: Result<AppendOutcome, StorageError> = .failure(.closed)
    private let reply: StorageReply<AppendOutcome>

    init(
        _ session: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: KeptAnswers,
        byteCount: Int,
        _ reply: @escaping StorageReply<AppendOutcome>
    ) {
        self.session = session
        self.point = point
        self.entries = entries
        self.answers = answers
        self.byteCount = byteCount
        self.reply = reply
    }

    var key: SessionKey? { session }

    func write(_ statements: inout WriteStatements) throws(SQLiteError) {
        outcome = .success(try statements.append(session, at: point, entries, keeping: answers))
    }

    func answer() { reply(outcome) }

    func refuse(_ error: StorageError) { reply(.failure(error)) }
}
