// Part of Rivulet. See README.md for the architecture.
// Owns one stored value: what it is, the changes that wait for it, and who hears of them.

import DequeModule
import Logging
import Synchronization

/// How a value becomes a document, and a document a value.
struct ValueForm<Value: Sendable>: Sendable {
    /// What stands for the value in storage; nil: nothing does.
    ///
    /// - Throws: what keeps the value from being stored.
    let document: @Sendable (Value) throws -> [UInt8]?
    /// The value of a document, or of none.
    ///
    /// - Throws: what is wrong with the document.
    let value: @Sendable ([UInt8]?) throws -> Value
    /// The value while there is no document that can be read.
    let standard: Value
}

/// What a change found and left.
struct ValueChange<Value: Sendable>: Sendable {
    let before: Value
    let after: Value
    /// How often it was written since it was read, this change included.
    let version: UInt64
    /// Whether storage has a document that cannot be read.
    let isDamaged: Bool
    /// Whether anything was written.
    let isWritten: Bool
}

/// A value in memory that is stored before anybody sees it.
///
/// Changes happen one after the other, in the order in which they were asked for, each on what the one before left; the first one waits
/// until the value is read. A change that storage does not take has not happened: not in memory, and no stream tells of it.
final class ValueBox<Value: Sendable>: Sendable {
    /// What makes another value of one; nil: it stays as it is, and nothing is written.
    typealias Edit = @Sendable (Value) throws -> Value?
    /// The same, of a value and its version.
    typealias VersionedEdit = @Sendable (Value, UInt64) throws -> Value?
    typealias Outcome = Result<ValueChange<Value>, any Error>

    /// The most changes that wait for storage.
    static var changesWaitingMax: Int { 4_096 }

    /// The most values that wait for one reader of a stream; it misses older ones then, and has the newest.
    static var valuesPerStreamMax: Int { 1_024 }

    private struct Job {
        let edit: VersionedEdit
        /// Whether a document that cannot be read goes when the value stays as it is.
        let clearsDamage: Bool
        let reply: @Sendable (Outcome) -> Void
    }

    private struct Content {
        /// Nil until it is read.
        var value: Value?
        /// How often it was written since it was read.
        var version: UInt64 = 0
        /// Whether storage has a document that cannot be read.
        var isDamaged = false
        var jobs: Deque<Job> = []
        /// Whether the storage has a request of the first job.
        var isBusy = false
        /// Whether a thread is about to look for the next job.
        var isLooking = false
        var readers: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var followers: [UInt64: Follower] = [:]
        var nextReader: UInt64 = 0
    }

    /// One who takes values when there are some.
    private struct Follower {
        let wake: @Sendable () -> Void
        var values: Deque<(version: UInt64, value: Value)> = []
    }

    let key: String
    let storage: ItemCollection
    private let form: ValueForm<Value>
    private let logger: Logger
    private let content = Mutex(Content())

    init(key: String, storage: ItemCollection, form: ValueForm<Value>, logger: Logger) {
        self.key = key
        self.storage = storage
        self.form = form
        self.logger = logger
    }

    /// The value, read from storage if it was not yet; waits for that, at most once.
    ///
    /// Without an answer from storage it is the value without a document, this time.
    var value: Value {
        if let value = content.withLock({ $0.value }) { return value }
        do {
            return try changeNow { _ in nil }.after
        } catch {
            logger.error("a stored value cannot be read: \(error)", metadata: ["key": "\(key)"])
            return form.standard
        }
    }

    /// The value now, and each one that a change leaves, equal ones too.
    var values: AsyncStream<Value> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.valuesPerStreamMax)) { continuation in
            // As a change among the others: what it sees first, and what follows, has no gap.
            change({ _ in nil }) { [self] outcome in
                if case .failure(let error) = outcome {
                    logger.error("a stored value cannot be read: \(error)", metadata: ["key": "\(key)"])
                }
                add(continuation)
            }
        }
    }

    private func add(_ continuation: AsyncStream<Value>.Continuation) {
        let number = content.withLock { content in
            content.nextReader += 1
            content.readers[content.nextReader] = continuation
            continuation.yield(content.value ?? form.standard)
            return content.nextReader
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.content.withLock { $0.readers.removeValue(forKey: number) }
        }
    }

    // MARK: - Followers

    /// Adds one who is woken when there are values to take, and takes each that is set from now on.
    func follow(_ wake: @escaping @Sendable () -> Void) -> UInt64 {
        content.withLock { content in
            content.nextReader += 1
            content.followers[content.nextReader] = Follower(wake: wake)
            return content.nextReader
        }
    }

    /// Takes what was set since it was taken last, the newest values when there are many, and what the value is at this moment.
    func take(of follower: UInt64) -> (values: [(version: UInt64, value: Value)], version: UInt64, value: Value) {
        content.withLock { content in
            let values = content.followers[follower].map { Array($0.values) } ?? []
            content.followers[follower]?.values = []
            return (values, content.version, content.value ?? form.standard)
        }
    }

    /// Removes one who followed.
    func unfollow(_ follower: UInt64) {
        content.withLock { content in content.followers[follower] = nil }
    }

    // MARK: - Changes

    /// Asks for a change; the reply comes on storage's thread, or at once.
    func change(_ edit: @escaping Edit, clearsDamage: Bool = false, reply: @escaping @Sendable (Outcome) -> Void) {
        change({ value, _ in try edit(value) }, clearsDamage: clearsDamage, reply: reply)
    }

    /// Asks for a change that depends on the version.
    func change(
        _ edit: @escaping VersionedEdit,
        clearsDamage: Bool = false,
        reply: @escaping @Sendable (Outcome) -> Void
    ) {
        let isTaken = content.withLock { content in
            guard content.jobs.count < Self.changesWaitingMax else { return false }
            content.jobs.append(Job(edit: edit, clearsDamage: clearsDamage, reply: reply))
            return true
        }
        guard isTaken else {
            let detail = "\(Self.changesWaitingMax) changes of the value \"\(key)\" wait for storage already"
            return reply(.failure(ItemStorageError.unavailable(detail: detail)))
        }
        goOn()
    }

    /// Makes a change; durable on return.
    ///
    /// - Throws: what the edit throws, or why storage did not take it; nothing has changed then.
    func change(_ edit: @escaping Edit, clearsDamage: Bool = false) async throws -> ValueChange<Value> {
        try await withCheckedThrowingContinuation { continuation in
            change(edit, clearsDamage: clearsDamage) { continuation.resume(with: $0) }
        }
    }

    /// Makes a change, and blocks the thread until it is durable.
    ///
    /// - Throws: as the other one.
    func changeNow(_ edit: @escaping Edit, clearsDamage: Bool = false) throws -> ValueChange<Value> {
        try storage.storage.open()
        let answer = Waiting<Outcome>()
        change(edit, clearsDamage: clearsDamage) { answer.give($0) }
        return try answer.take().get()
    }

    // MARK: - One after the other

    /// Runs what waits, until storage takes its time.
    ///
    /// A loop: a storage that answers at once must not make the stack grow with the jobs.
    private func goOn() {
        let isFirst = content.withLock { content in
            defer { content.isLooking = true }
            return !content.isLooking
        }
        guard isFirst else { return }
        while let (job, value) = nextJob() {
            if let value { run(job, on: value) } else { read(for: job) }
        }
    }

    private func nextJob() -> (job: Job, value: Value?)? {
        content.withLock { content in
            guard !content.isBusy, let job = content.jobs.popFirst() else {
                content.isLooking = false
                return nil
            }
            content.isBusy = true
            return (job, content.value)
        }
    }

    private func read(for job: Job) {
        storage.storage.items(of: storage.name) { [self] result in
            switch result {
            case .success(let collection): run(job, afterReading: collection)
            case .failure(let error): end(job, .failure(error))
            }
        }
    }

    private func run(_ job: Job, afterReading collection: StoredCollection) {
        let key = ItemKey(key)
        let document = collection.items.first { ItemKey($0.key) == key }?.document
        var isDamaged = collection.damaged.contains { $0.key.map(ItemKey.init) == key }
        var value = form.standard
        do {
            value = try form.value(document)
        } catch {
            isDamaged = true
            logger.error(
                "a stored value cannot be read, and counts as absent: \(error)",
                metadata: ["key": "\(self.key)"]
            )
        }
        content.withLock { content in
            content.value = value
            content.isDamaged = isDamaged
        }
        run(job, on: value)
    }

    private func run(_ job: Job, on before: Value) {
        // Only the one job that is under way changes these.
        let (version, isDamaged) = content.withLock { ($0.version, $0.isDamaged) }
        let after: Value
        let changes: [ItemChange]
        do {
            if let edited = try job.edit(before, version) {
                after = edited
                changes = [try form.document(edited).map { .put(key: key, document: $0) } ?? .remove(key: key)]
            } else {
                after = before
                changes = job.clearsDamage && isDamaged ? [.remove(key: key)] : []
            }
        } catch {
            return end(job, .failure(error))
        }
        guard !changes.isEmpty else {
            return end(job, .success(change(from: before, to: after, version, isDamaged: isDamaged)))
        }
        storage.storage.commit(changes, to: storage.name) { [self] result in
            switch result {
            case .success:
                publish(after)
                end(job, .success(change(from: before, to: after, version + 1, isWritten: true)))
            case .failure(let error):
                end(job, .failure(error))
            }
        }
    }

    private func change(
        from before: Value,
        to after: Value,
        _ version: UInt64,
        isDamaged: Bool = false,
        isWritten: Bool = false
    ) -> ValueChange<Value> {
        ValueChange(before: before, after: after, version: version, isDamaged: isDamaged, isWritten: isWritten)
    }

    private func publish(_ value: Value) {
        let wakes = content.withLock { content in
            content.value = value
            content.version += 1
            content.isDamaged = false
            for reader in content.readers.values { reader.yield(value) }
            var wakes: [@Sendable () -> Void] = []
            for id in content.followers.keys {
                guard var follower = content.followers.removeValue(forKey: id) else { continue }
                if follower.values.isEmpty { wakes.append(follower.wake) }
                if follower.values.count == Self.valuesPerStreamMax { follower.values.removeFirst() }
                follower.values.append((content.version, value))
                content.followers[id] = follower
            }
            return wakes
        }
        for wake in wakes { wake() }
    }

    private func end(_ job: Job, _ outcome: Outcome) {
        content.withLock { $0.isBusy = false }
        job.reply(outcome)
        goOn()
    }
}
