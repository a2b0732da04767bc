// Part of Rivulet. See README.md for the architecture.
// Owns the surroundings in which session tests run: a thread of their own making, held storage, recorded streams.

import CounterFixture
import Dispatch
import Logging
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Synchronization

/// Runs posted jobs on the test's own thread, when the test says so.
final class TestExecutor: SessionExecutor {
    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let arrived = DispatchSemaphore(value: 0)
    private let refuses = Mutex(false)

    var isCurrent: Bool { true }

    /// Makes it take no more jobs, as a full mailbox, or take them again.
    func refuseJobs(_ refuses: Bool) { self.refuses.withLock { $0 = refuses } }

    @discardableResult
    func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard !refuses.withLock({ $0 }) else { return false }
        jobs.withLock { $0.append(job) }
        arrived.signal()
        return true
    }

    /// Runs the jobs that are there.
    func runPosted() {
        while arrived.wait(timeout: .now()) == .success {
            jobs.withLock { $0.removeFirst() }()
        }
    }

    /// Runs jobs in order until the condition holds; false when none arrives for ten seconds.
    func run(until isDone: () -> Bool) -> Bool {
        while !isDone() {
            guard arrived.wait(timeout: .now() + 10) == .success else { return false }
            jobs.withLock { $0.removeFirst() }()
        }
        return true
    }
}

/// The time that a session counts from its server's start; it passes only when a test says so.
final class TestUptime: Sendable {
    private let passed = Mutex(Duration.zero)

    var time: Duration { passed.withLock { $0 } }

    func advance(by time: Duration) { passed.withLock { $0 += time } }
}

/// Takes down what sessions tell their streams.
final class RecordingSink: StreamSink {
    struct Joined {
        let stream: StreamID
        let place: StreamPlace
        let first: [StreamEvent]
        let cursor: Cursor

        /// The group that it is a member of; 0 is nobody's.
        var group: GroupID {
            if case .group(let id) = place { id } else { GroupID(rawValue: 0) }
        }
    }

    var joined: [Joined] = []
    var delivered: [(group: GroupID, event: StreamEvent)] = []
    var ended: [StreamEvent.ByeReason] = []
    var refused: [StreamRefusal] = []
    /// The names of the calls, in their order.
    var order: [String] = []

    func join(
        _ stream: StreamID,
        at place: StreamPlace,
        session: SessionKey,
        topic: StreamTopic,
        first: [StreamEvent],
        cursor: Cursor
    ) {
        order.append("join")
        joined.append(Joined(stream: stream, place: place, first: first, cursor: cursor))
    }

    func deliver(_ event: StreamEvent, to group: GroupID, loops: [Int]) {
        order.append("deliver")
        delivered.append((group, event))
    }

    func end(_ group: GroupID, because reason: StreamEvent.ByeReason, loops: [Int]) { ended.append(reason) }

    func refuse(_ stream: StreamID, with refusal: StreamRefusal) { refused.append(refusal) }
}

/// A memory engine whose appends can be held back and made to fail.
final class HeldStorage: StorageEngine {
    private struct State {
        var isHolding = false
        var held: [@Sendable () -> Void] = []
        var failure: StorageError?
        var compactionFailure: StorageError?
        var loadFailure: StorageError?
        var sessionsFailure: StorageError?
        var damaged: Set<SessionKey> = []
        var loads = 0
        var isNextInDoubt = false
        var appends = 0
        var historyEntriesMax = Int.max
        var isHoldingReads = false
        var heldReads: [@Sendable () -> Void] = []
    }

    let engine = MemoryStorageEngine()
    private let state = Mutex(State())

    /// As an engine on disk has them.
    let capabilities = StorageCapabilities(
        name: "held",
        isShared: false,
        entryBytesMax: 16_777_216,
        snapshotBytesMax: 16_777_216,
        survivesPowerLoss: true
    )
    /// How many appends have been asked for.
    var appends: Int { state.withLock { $0.appends } }

    /// Makes answers to `history` shorter than asked for, as an engine may.
    func limitHistory(to count: Int) { state.withLock { $0.historyEntriesMax = count } }

    func hold() { state.withLock { $0.isHolding = true } }

    /// Lets the held appends through.
    func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isHolding = false
            return state.held
        }
        for append in held { append() }
    }

    /// Makes the next append, held or not, or creation fail without being written, or the next deletion after it is done.
    func failNext(_ error: StorageError) { state.withLock { $0.failure = error } }

    /// Makes the next compaction fail without being written.
    func failNextCompaction(_ error: StorageError) { state.withLock { $0.compactionFailure = error } }

    /// How many loads have been asked for.
    var loads: Int { state.withLock { $0.loads } }

    /// Makes the next list of sessions fail.
    func failNextSessions(_ error: StorageError) { state.withLock { $0.sessionsFailure = error } }

    /// Makes each load of a session find it damaged.
    func damage(_ key: SessionKey) { state.withLock { _ = $0.damaged.insert(key) } }

    /// Makes the next load fail.
    func failNextLoad(_ error: StorageError) { state.withLock { $0.loadFailure = error } }

    /// Makes the next append be in doubt, written or not.
    func doubtNext(isWritten: Bool) {
        state.withLock { state in
            state.isNextInDoubt = isWritten
            state.failure = isWritten ? nil : .indeterminate(detail: "not written")
        }
    }

    /// Holds back the questions for kept answers.
    func holdReads() { state.withLock { $0.isHoldingReads = true } }

    /// Lets the held questions through, so that the last one is answered first.
    func releaseReadsBackwards() {
        let held = state.withLock { state in
            defer { state.heldReads = [] }
            state.isHoldingReads = false
            return state.heldReads
        }
        for read in held.reversed() { read() }
    }

    private func takeDoubt() -> Bool {
        state.withLock { state in
            defer { state.isNextInDoubt = false }
            return state.isNextInDoubt
        }
    }

    func start() throws(StorageError) { try engine.start() }
    func close() { engine.close() }

    func load(_ key: SessionKey, reply: @escaping StorageReply<StoredSession?>) {
        let failure = state.withLock { state in
            defer { state.loadFailure = nil }
            state.loads += 1
            return state.damaged.contains(key) ? .corrupt(key, detail: "a test's") : state.loadFailure
        }
        if let failure { return reply(.failure(failure)) }
        engine.load(key, reply: reply)
    }

    func create(
        _ key: SessionKey,
        epoch: String,
        time: Int64,
        snapshot: StateSnapshot?,
        reply: @escaping StorageReply<CreateOutcome>
    ) {
        if let failure = takeFailure() { return reply(.failure(failure)) }
        engine.create(key, epoch: epoch, time: time, snapshot: snapshot, reply: reply)
    }

    private func takeFailure() -> StorageError? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    func append(
        _ key: SessionKey,
        at point: AppendPoint,
        _ entries: [LogEntry],
        keeping answers: KeptAnswers,
        reply: @escaping StorageReply<AppendOutcome>
    ) {
        let append: @Sendable () -> Void = { [self] in
            if let failure = takeFailure() { return reply(.failure(failure)) }
            let isInDoubt = takeDoubt()
            engine.append(key, at: point, entries, keeping: answers) { result in
                reply(isInDoubt ? .failure(.indeterminate(detail: "written")) : result)
            }
        }
        let isHeld = state.withLock { state in
            state.appends += 1
            if state.isHolding { state.held.append(append) }
            return state.isHolding
        }
        if !isHeld { append() }
    }

    func history(
        _ key: SessionKey,
        epoch: String,
        after version: UInt64,
        limit: Int,
        reply: @escaping StorageReply<[LogEntry]?>
    ) {
        let limit = min(limit, state.withLock { $0.historyEntriesMax })
        engine.history(key, epoch: epoch, after: version, limit: limit, reply: reply)
    }

    func past(_ key: SessionKey, epoch: String, at version: UInt64, reply: @escaping StorageReply<StoredPast?>) {
        engine.past(key, epoch: epoch, at: version, reply: reply)
    }

    func keptAnswer(_ key: SessionKey, epoch: String, id: String, reply: @escaping StorageReply<KeptAnswer?>) {
        let read: @Sendable () -> Void = { [engine] in
            engine.keptAnswer(key, epoch: epoch, id: id, reply: reply)
        }
        let isHeld = state.withLock { state in
            if state.isHoldingReads { state.heldReads.append(read) }
            return state.isHoldingReads
        }
        if !isHeld { read() }
    }

    func keptAnswers(
        _ key: SessionKey,
        epoch: String,
        since time: Int64,
        reply: @escaping StorageReply<KeptAnswersUsage>
    ) {
        engine.keptAnswers(key, epoch: epoch, since: time, reply: reply)
    }

    func compact(
        _ key: SessionKey,
        at head: SessionHead,
        snapshot: StateSnapshot,
        keepingFrom: UInt64,
        keepingSince: Int64,
        reply: @escaping StorageReply<CompactionOutcome>
    ) {
        let failure = state.withLock { state in
            defer { state.compactionFailure = nil }
            return state.compactionFailure
        }
        if let failure { return reply(.failure(failure)) }
        engine.compact(
            key,
            at: head,
            snapshot: snapshot,
            keepingFrom: keepingFrom,
            keepingSince: keepingSince,
            reply: reply
        )
    }

    func delete(_ key: SessionKey, reply: @escaping StorageReply<Bool>) {
        engine.delete(key) { [self] result in
            if let failure = takeFailure() { return reply(.failure(failure)) }
            reply(result)
        }
    }

    func sessions(app: String, after id: String?, limit: Int, reply: @escaping StorageReply<[SessionSummary]>) {
        let failure = state.withLock { state in
            defer { state.sessionsFailure = nil }
            return state.sessionsFailure
        }
        if let failure { return reply(.failure(failure)) }
        engine.sessions(app: app, after: id, limit: limit, reply: reply)
    }

    func probe(reply: @escaping StorageReply<Void>) { engine.probe(reply: reply) }
}

/// The time of day, as a test says it is.
final class TestWallClock: Sendable {
    private let time = Mutex<Int64>(1_000)

    /// Since 1970.
    var milliseconds: Int64 { time.withLock { $0 } }

    func advance(by time: Duration) {
        self.time.withLock { $0 += time.components.seconds * 1_000 }
    }
}

/// A shard of the test app with everything around it.
final class SessionHarness {
    let executor = TestExecutor()
    let sink = RecordingSink()
    let storage: HeldStorage
    private(set) var app: any HostedApp
    let key = SessionKey(app: "tally", id: "s1")
    let wallClock = TestWallClock()
    let uptime = TestUptime()
    let timers: TestTimers
    private(set) var shard: SessionShard
    private let limits: SessionLimits
    private var groups: UInt64 = 0
    private var loops = 0

    init(
        limits: SessionLimits = SessionLimits(),
        policy: SessionPolicy = .onDemand,
        storage: HeldStorage = HeldStorage()
    ) throws {
        self.limits = limits
        timers = TestTimers(uptime)
        self.storage = storage
        app = AppHost(TallyApp(sessionPolicy: policy))
        shard = SessionShard(
            environment: Self.environment(executor, storage, limits, sink, wallClock, timers) { GroupID(rawValue: 0) }
        )
        try storage.start()
        restart()
    }

    /// Hosts another build of the app on the same storage.
    func deploy(_ definition: some AppDefinition) {
        app = AppHost(definition)
        restart()
    }

    /// Forgets everything in memory, as a restart of the server does.
    func restart() {
        shard = SessionShard(
            environment: Self.environment(executor, storage, limits, sink, wallClock, timers) { [unowned self] in
                groups += 1
                return GroupID(rawValue: groups)
            }
        )
    }

    private static func environment(
        _ executor: TestExecutor,
        _ storage: HeldStorage,
        _ limits: SessionLimits,
        _ sink: RecordingSink,
        _ wallClock: TestWallClock,
        _ timers: TestTimers,
        _ makeGroupID: @escaping () -> GroupID
    ) -> SessionEnvironment {
        SessionEnvironment(
            executor: executor,
            storage: storage,
            limits: limits,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            wallClock: { wallClock.milliseconds },
            uptime: { [uptime = timers.uptime] in uptime.time },
            schedule: { timers.schedule($0, $1) },
            clock: ContinuousClock(),
            sink: sink,
            makeGroupID: makeGroupID
        )
    }

    /// The session, loaded.
    func session() throws -> any HostedSession {
        var found: Result<any HostedSession, SessionError>?
        shard.find(key, of: app) { found = $0 }
        return try wait { found }.get()
    }

    /// Sends events and waits for the answer.
    @discardableResult
    func dispatch(_ body: String, expected: [Cursor] = [], isStrict: Bool = false) throws -> DispatchAnswer {
        try wait(for: send(body, expected: expected, isStrict: isStrict)).get()
    }

    /// Sends events; the answer is in the box when it has come.
    func send(_ body: String, expected: [Cursor] = [], isStrict: Bool = false) -> Box {
        let box = Box()
        let request = DispatchRequest(body: Array(body.utf8), expected: expected, isStrict: isStrict)
        shard.find(key, of: app) { found in
            switch found {
            case .success(let session): session.dispatch(request) { box.result = $0 }
            case .failure(let error): box.result = .failure(error)
            }
        }
        return box
    }

    final class Box {
        var result: Result<DispatchAnswer, SessionError>?
    }

    func wait(for box: Box) throws -> Result<DispatchAnswer, SessionError> {
        try wait { box.result }
    }

    /// Runs jobs until there is a value.
    func wait<Value>(_ value: () -> Value?) throws -> Value {
        _ = executor.run { value() != nil }
        guard let value = value() else { throw TimedOut() }
        return value
    }

    struct TimedOut: Error {}

    /// Asks storage, and waits for its answer.
    func ask<Value: Sendable>(_ question: (@escaping StorageReply<Value>) -> Void) throws -> Value {
        let answer = Answer<Value>()
        let executor = executor
        question { result in
            answer.result.withLock { $0 = result }
            executor.post {}
        }
        return try wait { answer.result.withLock { $0 } }.get()
    }

    private final class Answer<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, StorageError>?>(nil)
    }

    /// Adds a subscriber and gives what it got first.
    @discardableResult
    func subscribe(_ paths: String..., resume: String? = nil) throws -> RecordingSink.Joined {
        try subscribe(try paths.map { try JSONPointer(parsing: $0) }, resume: resume)
    }

    /// Adds a subscriber and gives what it got first.
    func subscribe(_ paths: [JSONPointer], resume: String? = nil) throws -> RecordingSink.Joined {
        try subscribe(StreamTopic(paths: paths), resume: resume)
    }

    /// Adds a subscriber and gives what it got first.
    @discardableResult
    func subscribe(
        _ topic: StreamTopic,
        resume: String? = nil,
        resumesAll: Bool = false
    ) throws -> RecordingSink.Joined {
        let count = sink.joined.count
        ask(topic, resume: resume, resumesAll: resumesAll)
        return try wait { sink.joined.count > count ? sink.joined.last : nil }
    }

    /// Asks for a stream; the answer comes to the sink.
    func ask(_ topic: StreamTopic, resume: String? = nil, resumesAll: Bool = false) {
        loops += 1
        let stream = StreamID(loop: loops, connection: UInt64(loops))
        let request = StreamRequest(stream: stream, topic: topic, resume: resume, resumesAll: resumesAll)
        shard.find(key, of: app) { found in
            if case .success(let session) = found { session.subscribe(request) }
        }
    }

    /// The visible value at a path, as JSON text.
    func value(_ path: String) throws -> String {
        let answer = try session().read(try JSONPointer(parsing: path)).get()
        return String(decoding: answer.value, as: UTF8.self)
    }
}

extension StreamEvent {
    /// The data as text.
    var text: String { String(decoding: data, as: UTF8.self) }
}
