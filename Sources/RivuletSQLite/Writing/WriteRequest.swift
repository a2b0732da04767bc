import RivuletBase
internal import RivuletSessions
internal import RivuletStores

/// A write that waits for its commit.
///
/// Only one thread uses it at a time: first the submitting thread, then the writer.
protocol WriteRequest: AnyObject, Sendable {
    /// The session that an error of this write alone is attributed to.
    var key: SessionKey? { get }
    /// The collection, if the write needs its keys.
    var collection: ByteText? { get }
    var byteCount: Int { get }
    var purpose: WritePurpose { get }
    /// True if the write may wait until another thread has read these keys; otherwise the write reads missing keys
    /// itself.
    var mayWaitForKeys: Bool { get }

    /// Ends the wait for keys.
    func stopWaitingForKeys()

    /// Writes inside a transaction; called again if the transaction is rolled back and repeated.
    func write(_ statements: inout WriteStatements) throws(SQLiteError)

    /// Answers the write, which is now durable.
    func answer()

    /// Answers a write that was not tried, or that failed.
    func refuse(_ error: StorageError)
}

/// The purpose of a write, which determines its treatment on a full disk.
enum WritePurpose {
    /// The write adds or changes data.
    case change
    /// The write removes data, and so may use the reserve.
    case removal
    /// The write tests that storage works.
    case probe
    /// The write applies frames to a replica, or loads a base; after a failure, no other write does so.
    case apply
    /// The request reads the position of a replica.
    case position
}

extension WriteRequest {
    var purpose: WritePurpose { .change }

    var collection: ByteText? { nil }

    var mayWaitForKeys: Bool { false }

    func stopWaitingForKeys() {}
}

extension SQLiteError {
    /// Returns the refusal of a write by a quota.
    ///
    /// Such a write has changed nothing, so the other writes of its transaction are committed.
    ///
    /// - Throws: The error itself, if it has another cause; it ends the transaction.
    fileprivate func refusalByQuota() throws(SQLiteError) -> StorageError {
        guard case .refused(.quota(let excess)) = self else { throw self }
        return .quota(excess)
    }
}

/// A write with its outcome; an object, so that it is passed on without a copy.
final class Write<Outcome: Sendable>: WriteRequest, @unchecked Sendable {
    // SAFETY: the submitting thread only makes the request. After that, only the writer uses the variables.
    let key: SessionKey?
    let collection: ByteText?
    let byteCount: Int
    let purpose: WritePurpose
    private(set) var mayWaitForKeys = true
    private var outcome: Result<Outcome, StorageError> = .failure(.closed)
    private let reply: StorageReply<Outcome>
    private let body: @Sendable (inout WriteStatements) throws(SQLiteError) -> Outcome

    init(
        _ key: SessionKey?,
        in collection: ByteText?,
        byteCount: Int,
        purpose: WritePurpose,
        _ reply: @escaping StorageReply<Outcome>,
        _ body: @escaping @Sendable (inout WriteStatements) throws(SQLiteError) -> Outcome
    ) {
        self.key = key
        self.collection = collection
        self.byteCount = byteCount
        self.purpose = purpose
        self.reply = reply
        self.body = body
    }

    func stopWaitingForKeys() { mayWaitForKeys = false }

    func write(_ statements: inout WriteStatements) throws(SQLiteError) {
        do throws(SQLiteError) {
            outcome = .success(try body(&statements))
        } catch {
            outcome = .failure(try error.refusalByQuota())
        }
    }

    func answer() { reply(outcome) }

    func refuse(_ error: StorageError) { reply(.failure(error)) }
}

/// An append, the most common write; it has its own type because generic code looks up the outcome's metadata each
/// time.
final class AppendRequest: WriteRequest, @unchecked Sendable {
    // SAFETY: after the submission of the request, only the writer uses `outcome`.
    private let session: SessionKey
    private let point: AppendPoint
    private let entries: [LogEntry]
    private let answers: IdempotencyRecords
    let byteCount: Int
    private var outcome: Result<AppendOutcome, StorageError> = .failure(.closed)
    private let reply: StorageReply<AppendOutcome>

    init(
        _ session: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: IdempotencyRecords,
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
        do throws(SQLiteError) {
            outcome = .success(try statements.append(session, at: point, entries, keeping: answers))
        } catch {
            outcome = .failure(try error.refusalByQuota())
        }
    }

    func answer() { reply(outcome) }

    func refuse(_ error: StorageError) { reply(.failure(error)) }
}
