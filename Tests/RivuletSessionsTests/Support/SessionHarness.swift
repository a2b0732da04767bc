// Owns the environment of session tests: jobs on the test's own thread, held storage, recorded streams.

import CounterFixture
import Dispatch
import Logging
import RivuletBase
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

    /// Makes the executor refuse jobs, as a full mailbox does, or accept them again.
    func refuseJobs(_ refuses: Bool) { self.refuses.withLock { $0 = refuses } }

    @discardableResult
    func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard !refuses.withLock({ $0 }) else { return false }
        jobs.withLock { $0.append(job) }
        arrived.signal()
        return true
    }

    /// Runs the posted jobs.
    func runPosted() {
        while arrived.wait(timeout: .now()) == .success {
            jobs.withLock { $0.removeFirst() }()
        }
    }

    /// Runs jobs in order until the condition holds.
    ///
    /// Returns false if no job arrives for ten seconds.
    func run(until isDone: () -> Bool) -> Bool {
        while !isDone() {
            guard arrived.wait(timeout: .now() + 10) == .success else { return false }
            jobs.withLock { $0.removeFirst() }()
        }
        return true
    }
}

/// The time since the server's start.
///
/// It passes only when a test says so.
final class TestUptime: Sendable {
    private let passed = Mutex(Duration.zero)

    var time: Duration { passed.withLock { $0 } }

    func advance(by time: Duration) { passed.withLock { $0 += time } }
}

/// Records the events that sessions send to their streams.
final class RecordingSink: StreamSink {
    struct Joined {
        let stream: StreamID
        let slot: StreamSlot
        let first: [StreamEvent]
        let cursor: Cursor
        let resumesAll: Bool

        /// The group of the stream; 0 if it has none.
        var group: GroupID {
            if case .group(let id) = slot { id } else { GroupID(rawValue: 0) }
        }
    }

    var joined: [Joined] = []
    var delivered: [(group: GroupID, event: StreamEvent)] = []
    var ended: [StreamEvent.ByeReason] = []
    var refused: [SessionStreamError] = []
    /// The names of the calls, in their order.
    var order: [String] = []

    /// The prepared snapshots, each with true if it is compressed.
    let prepared = Prepared()

    final class Prepared: Sendable {
        private let list = Mutex<[(snapshot: StreamEvent, isCompressed: Bool)]>([])

        var all: [(snapshot: StreamEvent, isCompressed: Bool)] { list.withLock { $0 } }

        func add(_ snapshot: StreamEvent, isCompressed: Bool) { list.withLock { $0.append((snapshot, isCompressed)) } }
    }

    func preparation(isCompressed: Bool) -> @Sendable (_ snapshot: StreamEvent) -> Void {
        { [prepared] in prepared.add($0, isCompressed: isCompressed) }
    }

    func join(
        _ stream: StreamID,
        at slot: StreamSlot,
        session: SessionKey,
        topic: StreamTopic,
        first: [StreamEvent],
        cursor: Cursor,
        resumesAll: Bool
    ) {
        order.append("join")
        joined.append(Joined(stream: stream, slot: slot, first: first, cursor: cursor, resumesAll: resumesAll))
    }

    func deliver(_ event: StreamEvent, to group: GroupID, loops: [Int]) {
        order.append("deliver")
        delivered.append((group, event))
    }

    func end(_ group: GroupID, because reason: StreamEvent.ByeReason, loops: [Int]) { ended.append(reason) }

    func refuse(_ stream: StreamID, with error: SessionStreamError) { refused.append(error) }
}

/// The time of day, which a test sets.
final class TestWallClock: Sendable {
    private let time = Mutex<Int64>(1_000)

    /// The milliseconds since 1970.
    var milliseconds: Int64 { time.withLock { $0 } }

    func advance(by time: Duration) {
        self.time.withLock { $0 += Int64(time.milliseconds) }
    }
}

/// The permission to hand out sessions, which a test sets.
final class TestGate {
    var isOpen = true
}

/// A shard of the test app with its whole environment.
final class SessionHarness {
    let executor = TestExecutor()
    let sink = RecordingSink()
    let storage: HeldStorage
    private(set) var app: any HostedApp
    let key = SessionKey(app: "tally", id: "s1")
    let wallClock = TestWallClock()
    let uptime = TestUptime()
    let timers: TestTimers
    let work = TestWork()
    let gate = TestGate()
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
            environment: Self.environment(executor, storage, limits, sink, wallClock, timers, work, gate) {
                GroupID(rawValue: 0)
            }
        )
        try storage.lifecycle.start()
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
            environment: Self.environment(executor, storage, limits, sink, wallClock, timers, work, gate) {
                [unowned self] in
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
        _ work: TestWork,
        _ gate: TestGate,
        _ makeGroupID: @escaping () -> GroupID
    ) -> SessionEnvironment {
        SessionEnvironment(
            executor: executor,
            storage: SessionStorage(storage),
            limits: limits,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            wallClock: { wallClock.milliseconds },
            uptime: { [uptime = timers.uptime] in uptime.time },
            schedule: { timers.schedule($0, $1) },
            work: { work.run($0, $1) },
            clock: ContinuousClock(),
            sink: sink,
            makeGroupID: makeGroupID,
            mayHandOut: { gate.isOpen }
        )
    }

    /// The loaded session.
    func session() throws -> Session {
        var found: Result<Session, SessionError>?
        shard.find(key, of: app) { found = $0 }
        return try wait { found }.get()
    }

    /// Sends events and waits for the answer.
    @discardableResult
    func dispatch(_ body: String, expected: [Cursor] = [], isStrict: Bool = false) throws -> DispatchAnswer {
        try wait(for: send(body, expected: expected, isStrict: isStrict)).get()
    }

    /// Sends events.
    ///
    /// The box gets the answer when it comes.
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

    /// Sends a request to storage, and waits for its answer.
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

    /// Adds a subscriber, and returns its first events.
    @discardableResult
    func subscribe(_ paths: String..., resume: String? = nil) throws -> RecordingSink.Joined {
        try subscribe(try paths.map { try JSONPointer(parsing: $0) }, resume: resume)
    }

    /// Adds a subscriber, and returns its first events.
    func subscribe(_ paths: [JSONPointer], resume: String? = nil) throws -> RecordingSink.Joined {
        try subscribe(StreamTopic(paths: paths), resume: resume)
    }

    /// Adds a subscriber, and returns its first events.
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

    /// Requests a stream.
    ///
    /// The sink gets the answer.
    func ask(_ topic: StreamTopic, resume: String? = nil, resumesAll: Bool = false, isCompressed: Bool = false) {
        loops += 1
        let stream = StreamID(loop: loops, connection: UInt64(loops))
        let request = StreamRequest(
            stream: stream,
            topic: topic,
            resume: resume,
            resumesAll: resumesAll,
            isCompressed: isCompressed
        )
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
