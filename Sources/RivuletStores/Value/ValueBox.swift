import DequeModule
import Logging
import RivuletBase
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
    /// Whether a document that can be read is to be written anew, for the same value has another one now.
    ///
    /// - Throws: as `value`.
    var isOlder: @Sendable ([UInt8]) throws -> Bool = { _ in false }
    /// The value while there is no document that can be read.
    let standard: Value
}

/// What storage has of a value.
package enum StoredCondition {
    /// Nothing, or the document that the value has now.
    case current
    /// A document that the value had before.
    case older
    /// A document that cannot be read.
    case unreadable
}

/// Where a value stands.
package struct StoredStanding {
    /// What storage has of it.
    package var condition: StoredCondition
    /// How often it was written since it was read.
    package var version: UInt64
}

/// What a change found and left.
package struct ValueChange<Value: Sendable>: Sendable {
    package let before: Value
    package let after: Value
    /// Where the value stands after it.
    package let standing: StoredStanding
    /// Whether anything was written.
    package let isWritten: Bool
}

/// A value in memory that is stored before anybody sees it.
///
/// Changes happen one after the other, in the order in which they were asked for, each on what the one before left; the first one waits
/// until the value is read. A change that storage does not take has not happened: not in memory, and no stream tells of it.
package final class ValueBox<Value: Sendable>: Sendable {
    /// What makes another value of one; nil: it stays as it is, and nothing is written.
    package typealias Edit = @Sendable (Value) throws -> Value?
    /// The same, for one that depends on where the value stands.
    package typealias KnowingEdit = @Sendable (Value, StoredStanding) throws -> Value?
    package typealias Outcome = Result<ValueChange<Value>, any Error>

    /// The most changes that wait for storage.
    static var changesWaitingMax: Int { 4_096 }

    /// The most values that wait for one reader of a stream; it misses older ones then, and has the newest.
    static var valuesPerStreamMax: Int { 1_024 }

    /// The most bytes of documents of values that wait for one who follows; a single one may have more.
    static var bytesPerFollowerMax: Int { 4 << 20 }

    private struct Job {
        let edit: KnowingEdit
        let reply: @Sendable (Outcome) -> Void
    }

    private struct Content {
        /// Nil until it is read.
        var value: Value?
        /// Whether storage may have another one: nobody knows what a failed write left behind.
        var isDoubtful = false
        var standing = StoredStanding(condition: .current, version: 0)
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
        private(set) var values: Deque<(version: UInt64, value: Value, byteCount: Int)> = []
        private var byteCount = 0

        init(wake: @escaping @Sendable () -> Void) {
            self.wake = wake
        }

        /// Adds the newest value, which the oldest make room for.
        mutating func append(_ value: Value, _ version: UInt64, byteCount bytes: Int) {
            while values.count >= valuesPerStreamMax || byteCount + bytes > bytesPerFollowerMax {
                guard let oldest = values.popFirst() else { break }
                byteCount -= oldest.byteCount
            }
            values.append((version, value, bytes))
            byteCount += bytes
        }

        mutating func removeAll() { (values, byteCount) = ([], 0) }
    }

    package let key: String
    package let storage: ItemCollection
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
        if let value = content.withLock({ $0.isDoubtful ? nil : $0.value }) { return value }
        do {
            return try changeNow { _ in nil }.after
        } catch {
            logger.error("a stored value cannot be read: \(LogText.of(error))", metadata: ["key": "\(key)"])
            return form.standard
        }
    }

    /// The value now, and each one that a change leaves, equal ones too.
    var values: AsyncStream<Value> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.valuesPerStreamMax)) { continuation in
            // As a change among the others: what it sees first, and what follows, has no gap.
            change({ _ in nil }) { [self] outcome in
                if case .failure(let error) = outcome {
                    logger.error("a stored value cannot be read: \(LogText.of(error))", metadata: ["key": "\(key)"])
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
    package func follow(_ wake: @escaping @Sendable () -> Void) -> UInt64 {
        content.withLock { content in
            content.nextReader += 1
            content.followers[content.nextReader] = Follower(wake: wake)
            return content.nextReader
        }
    }

    /// Takes what was set since it was taken last, the newest values when there are many, and what the value is at this moment.
    package func take(of follower: UInt64) -> (values: [(version: UInt64, value: Value)], version: UInt64, value: Value)
    {
        content.withLock { content in
            let values = content.followers[follower]?.values.map { ($0.version, $0.value) } ?? []
            content.followers[follower]?.removeAll()
            return (values, content.standing.version, content.value ?? form.standard)
        }
    }

    /// Removes one who followed.
    package func unfollow(_ follower: UInt64) {
        content.withLock { content in content.followers[follower] = nil }
    }

    // MARK: - Changes

    /// Asks for a change; the reply comes on storage's thread, or at once.
    package func change(_ edit: @escaping Edit, reply: @escaping @Sendable (Outcome) -> Void) {
        change(knowing: { value, _ in try edit(value) }, reply: reply)
    }

    /// Asks for a change; the reply comes on storage's thread, or at once.
    package func change(knowing edit: @escaping KnowingEdit, reply: @escaping @Sendable (Outcome) -> Void) {
        let isTaken = content.withLock { content in
            guard content.jobs.count < Self.changesWaitingMax else { return false }
            content.jobs.append(Job(edit: edit, reply: reply))
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
    func change(_ edit: @escaping Edit) async throws -> ValueChange<Value> {
        try await change(knowing: { value, _ in try edit(value) })
    }

    /// Makes a change; durable on return.
    ///
    /// - Throws: as the other one.
    func change(knowing edit: @escaping KnowingEdit) async throws -> ValueChange<Value> {
        try await withCheckedThrowingContinuation { continuation in
            change(knowing: edit) { continuation.resume(with: $0) }
        }
    }

    /// Makes a change, and blocks the thread until it is durable.
    ///
    /// - Throws: as the other one.
    func changeNow(_ edit: @escaping Edit) throws -> ValueChange<Value> {
        try changeNow(knowing: { value, _ in try edit(value) })
    }

    /// Makes a change, and blocks the thread until it is durable.
    ///
    /// - Throws: as the other one.
    func changeNow(knowing edit: @escaping KnowingEdit) throws -> ValueChange<Value> {
        try storage.storage.open()
        let answer = Waiting<Outcome>()
        change(knowing: edit) { answer.give($0) }
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
        while let (job, value, standing) = nextJob() {
            if let value { run(job, on: value, standing) } else { read(for: job) }
        }
    }

    private func nextJob() -> (job: Job, value: Value?, standing: StoredStanding)? {
        content.withLock { content in
            guard !content.isBusy, let job = content.jobs.popFirst() else {
                content.isLooking = false
                return nil
            }
            content.isBusy = true
            return (job, content.isDoubtful ? nil : content.value, content.standing)
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
        var condition = StoredCondition.current
        if collection.damaged.contains(where: { $0.key.map(ItemKey.init) == key }) {
            condition = .unreadable
            report("its document is damaged")
        }
        var value = form.standard
        do {
            value = try form.value(document)
            if let document, try form.isOlder(document) { condition = .older }
        } catch {
            condition = .unreadable
            report(LogText.of(error))
        }
        run(job, on: value, take(value, condition, byteCount: document?.count ?? 0))
    }

    private func report(_ fault: String) {
        logger.error("a stored value cannot be read, and counts as absent: \(fault)", metadata: ["key": "\(key)"])
    }

    private func run(_ job: Job, on before: Value, _ standing: StoredStanding) {
        let after: Value
        let document: [UInt8]?
        do {
            guard let edited = try job.edit(before, standing) else {
                let change = ValueChange(before: before, after: before, standing: standing, isWritten: false)
                return end(job, .success(change))
            }
            after = edited
            document = try form.document(edited)
        } catch {
            return end(job, .failure(error))
        }
        let change = document.map { ItemChange.put(key: key, document: $0) } ?? .remove(key: key)
        let byteCount = document?.count ?? 0
        storage.storage.commit([change], to: storage.name) { [self] result in
            switch result {
            case .success:
                let standing = take(after, .current, byteCount: byteCount)
                let change = ValueChange(before: before, after: after, standing: standing, isWritten: true)
                end(job, .success(change))
            case .failure(let error):
                if case .indeterminate = error { content.withLock { $0.isDoubtful = true } }
                end(job, .failure(error))
            }
        }
    }

    /// Takes a value that was written or read, and tells of it unless it is the first one.
    private func take(_ value: Value, _ condition: StoredCondition, byteCount: Int) -> StoredStanding {
        let (standing, wakes) = content.withLock { content -> (StoredStanding, [@Sendable () -> Void]) in
            let isFirst = content.value == nil
            (content.value, content.isDoubtful) = (value, false)
            content.standing.condition = condition
            if isFirst { return (content.standing, []) }
            content.standing.version += 1
            for reader in content.readers.values { reader.yield(value) }
            let wakes = Self.note(value, content.standing.version, byteCount: byteCount, for: &content.followers)
            return (content.standing, wakes)
        }
        for wake in wakes { wake() }
        return standing
    }

    /// Notes a value for those who take values.
    ///
    /// - Returns: whom to wake, those for whom nothing waited.
    private static func note(
        _ value: Value,
        _ version: UInt64,
        byteCount: Int,
        for followers: inout [UInt64: Follower]
    ) -> [@Sendable () -> Void] {
        var wakes: [@Sendable () -> Void] = []
        for id in Array(followers.keys) {
            guard var follower = followers.removeValue(forKey: id) else { continue }
            if follower.values.isEmpty { wakes.append(follower.wake) }
            follower.append(value, version, byteCount: byteCount)
            followers[id] = follower
        }
        return wakes
    }

    private func end(_ job: Job, _ outcome: Outcome) {
        content.withLock { $0.isBusy = false }
        job.reply(outcome)
        goOn()
    }
}
