import DequeModule
import Logging
import RivuletBase
import Synchronization

/// The conversion of a value to a document, and of a document to a value.
struct ValueCodec<Value: Sendable>: Sendable {
    /// Returns the document of a value; nil if the value is stored without a document.
    ///
    /// - Throws: The error that prevents the storage of the value.
    let document: @Sendable (Value) throws -> [UInt8]?
    /// Returns the value of a document, or of no document.
    ///
    /// - Throws: The error of the document.
    let value: @Sendable ([UInt8]?) throws -> Value
    /// Returns true if a readable document is outdated, because the codec now writes the same value in another way.
    ///
    /// An example is a document that an older key sealed.
    ///
    /// - Throws: The errors of `value`.
    var isOlder: @Sendable ([UInt8]) throws -> Bool = { _ in false }
    /// The value while there is no readable document.
    let defaultValue: Value
}

/// The relation of the stored document to the value.
package enum StoredCondition {
    /// No document is stored, or the stored document is up to date.
    case current
    /// The stored document has the same value in an outdated form, such as a document that an older key sealed.
    case older
    /// The stored document cannot be read.
    case unreadable
}

/// The state of a value in storage.
package struct StoredStanding {
    /// The relation of the stored document to the value.
    package var condition: StoredCondition
    /// The number of writes, and of repeated reads, since the value was first read.
    package var version: UInt64
}

/// The result of a change.
package struct ValueChange<Value: Sendable>: Sendable {
    package let before: Value
    package let after: Value
    /// The state of the value after the change.
    package let standing: StoredStanding
    /// True if anything was written.
    package let isWritten: Bool
}

/// A value in memory that is stored before any reader sees it.
///
/// Changes are made one after the other, in the order of their requests. Each change begins with the result of the
/// previous change. The first change waits until the value is read. A change that the storage refuses has no effect,
/// neither in memory nor on streams.
package final class ValueBox<Value: Sendable>: Sendable {
    /// Returns the new value of a change; nil if the value stays unchanged and nothing is written.
    package typealias Edit = @Sendable (Value) throws -> Value?
    /// Returns the new value of a change that also depends on the value's state in storage.
    package typealias KnowingEdit = @Sendable (Value, StoredStanding) throws -> Value?
    package typealias Outcome = Result<ValueChange<Value>, any Error>

    /// The most changes that wait for storage.
    static var changesWaitingMax: Int { 4_096 }

    /// The most values that wait for one reader of a stream; beyond it the reader misses the oldest values and gets
    /// the newest.
    static var valuesPerStreamMax: Int { 1_024 }

    /// The most bytes of documents of values that wait for one follower; a single value may have more.
    static var bytesPerFollowerMax: Int { 4 << 20 }

    private struct Job {
        let edit: KnowingEdit
        let reply: @Sendable (Outcome) -> Void
    }

    private struct Content {
        /// Nil until the value is read.
        var value: Value?
        /// True if the storage may have another value, because the outcome of a failed write is unknown.
        var isDoubtful = false
        var standing = StoredStanding(condition: .current, version: 0)
        var jobs: Deque<Job> = []
        /// True if the storage works on the request of a job.
        var isBusy = false
        /// True if a thread is about to take the next job.
        var isLooking = false
        var readers: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var followers: [UInt64: Follower] = [:]
        var nextReader: UInt64 = 0
    }

    /// A follower, which takes values when some are available.
    private struct Follower {
        let wake: @Sendable () -> Void
        private(set) var values: Deque<(version: UInt64, value: Value, byteCount: Int)> = []
        private var byteCount = 0

        init(wake: @escaping @Sendable () -> Void) {
            self.wake = wake
        }

        /// Adds the newest value, and removes the oldest ones if they exceed the limits.
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
    private let codec: ValueCodec<Value>
    private let logger: Logger
    private let content = Mutex(Content())

    init(key: String, storage: ItemCollection, codec: ValueCodec<Value>, logger: Logger) {
        self.key = key
        self.storage = storage
        self.codec = codec
        self.logger = logger
    }

    /// The value.
    ///
    /// If the value was not read yet, the call waits for the storage. If the storage answers with an error, the call
    /// returns the default.
    var value: Value {
        if let value = content.withLock({ $0.isDoubtful ? nil : $0.value }) { return value }
        do {
            return try changeNow { _ in nil }.after
        } catch {
            logger.error("a stored value cannot be read: \(LogText.of(error))", metadata: ["key": "\(key)"])
            return codec.defaultValue
        }
    }

    /// A stream of the current value, then of each value that is set, also an equal one.
    var values: AsyncStream<Value> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.valuesPerStreamMax)) { continuation in
            // The subscription is queued as a change, so that the stream misses no value after its first one.
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
            continuation.yield(content.value ?? codec.defaultValue)
            return content.nextReader
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.content.withLock { $0.readers.removeValue(forKey: number) }
        }
    }

    // MARK: - Followers

    /// Adds a follower that is woken when there are values to take.
    ///
    /// It takes each value that is set from now on.
    package func follow(_ wake: @escaping @Sendable () -> Void) -> UInt64 {
        content.withLock { content in
            content.nextReader += 1
            content.followers[content.nextReader] = Follower(wake: wake)
            return content.nextReader
        }
    }

    /// Takes the values that were set since the last call, and the current value.
    ///
    /// A follower that fell behind gets only the newest values.
    package func take(of follower: UInt64) -> (values: [(version: UInt64, value: Value)], version: UInt64, value: Value)
    {
        content.withLock { content in
            let values = content.followers[follower]?.values.map { ($0.version, $0.value) } ?? []
            content.followers[follower]?.removeAll()
            return (values, content.standing.version, content.value ?? codec.defaultValue)
        }
    }

    /// Removes a follower.
    package func unfollow(_ follower: UInt64) {
        content.withLock { content in content.followers[follower] = nil }
    }

    // MARK: - Changes

    /// Requests a change; the reply is called on the storage's thread, or at once.
    package func change(_ edit: @escaping Edit, reply: @escaping @Sendable (Outcome) -> Void) {
        change(knowing: { value, _ in try edit(value) }, reply: reply)
    }

    /// Requests a change; the reply is called on the storage's thread, or at once.
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
    /// - Throws: The error of the edit, or the reason that the storage refused the change. Nothing has changed then,
    ///   unless the error is `indeterminate`.
    func change(_ edit: @escaping Edit) async throws -> ValueChange<Value> {
        try await change(knowing: { value, _ in try edit(value) })
    }

    /// Makes a change; durable on return.
    ///
    /// - Throws: The errors of `change(_:)`.
    func change(knowing edit: @escaping KnowingEdit) async throws -> ValueChange<Value> {
        try await withCheckedThrowingContinuation { continuation in
            change(knowing: edit) { continuation.resume(with: $0) }
        }
    }

    /// Makes a change, and blocks the thread until it is durable.
    ///
    /// - Throws: The errors of the suspending form.
    func changeNow(_ edit: @escaping Edit) throws -> ValueChange<Value> {
        try changeNow(knowing: { value, _ in try edit(value) })
    }

    /// Makes a change, and blocks the thread until it is durable.
    ///
    /// - Throws: The errors of the suspending form.
    func changeNow(knowing edit: @escaping KnowingEdit) throws -> ValueChange<Value> {
        try storage.storage.open()
        let answer = BlockingPromise<Outcome>()
        change(knowing: edit) { answer.give($0) }
        return try answer.take().get()
    }

    // MARK: - One after the other

    /// Runs waiting jobs until the storage does not answer at once.
    ///
    /// It is a loop, because a storage that answers at once must not make the stack grow with the jobs.
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
        let key = ByteText(key)
        let document = collection.items.first { ByteText($0.key) == key }?.document
        var condition = StoredCondition.current
        if collection.damaged.contains(where: { $0.key.map(ByteText.init) == key }) {
            condition = .unreadable
            report("its document is damaged")
        }
        var value = codec.defaultValue
        do {
            value = try codec.value(document)
            if let document, try codec.isOlder(document) { condition = .older }
        } catch {
            condition = .unreadable
            report(LogText.of(error))
        }
        run(job, on: value, take(value, condition, byteCount: document?.count ?? 0))
    }

    private func report(_ fault: String) {
        logger.error("a stored value cannot be read, and is treated as absent: \(fault)", metadata: ["key": "\(key)"])
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
            document = try codec.document(edited)
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

    /// Sets a value that was written or read, and notifies readers and followers, unless it is the first value.
    private func take(_ value: Value, _ condition: StoredCondition, byteCount: Int) -> StoredStanding {
        let (standing, wakes) = content.withLock { content -> (StoredStanding, [@Sendable () -> Void]) in
            let isFirst = content.value == nil
            (content.value, content.isDoubtful) = (value, false)
            content.standing.condition = condition
            if isFirst { return (content.standing, []) }
            content.standing.version += 1
            for reader in content.readers.values { reader.yield(value) }
            let wakes = Self.record(value, content.standing.version, byteCount: byteCount, for: &content.followers)
            return (content.standing, wakes)
        }
        for wake in wakes { wake() }
        return standing
    }

    /// Queues a value for the followers.
    ///
    /// - Returns: The wake functions of the followers for which no value waited.
    private static func record(
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
