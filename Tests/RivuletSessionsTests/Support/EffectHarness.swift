// Owns a session with effects that run when a test says so: by its own clock, on its own thread.

import CounterFixture
import Dispatch
import Logging
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import RivuletTestClock
import Synchronization

/// The test app with effects that a test defines.
struct ScriptedApp: AppDefinition {
    typealias State = TallyApp.State

    /// An error that no reducer should have.
    struct Fault: Error {}

    let name = "scripted"
    let defaultState = TallyApp().defaultState
    var loaded: @Sendable (State) -> Effect<TallyEvent> = { _ in .none }
    var effects: @Sendable (TallyEvent, State) -> Effect<TallyEvent> = { _, _ in .none }

    /// Applies the event.
    ///
    /// `retitle` with the id `fault` fails after a write.
    func reduce(into state: inout State, event: TallyEvent) throws {
        if case .retitle("fault", let title) = event {
            state.p.title = title
            throw Fault()
        }
        try TallyApp().reduce(into: &state, event: event)
    }

    func effect(of event: TallyEvent, state: State) -> Effect<TallyEvent> { effects(event, state) }

    func effect(whenLoaded state: State) -> Effect<TallyEvent> { loaded(state) }
}

/// A shard of one scripted app, on the test's own clock and thread.
final class EffectHarness {
    let clock = ManualClock()
    let executor = ManualExecutor()
    let log = RecordedLog()
    let storage = HeldStorage()
    let app: AppHost<ScriptedApp>
    let key = SessionKey(app: "scripted", id: "s1")
    private(set) var shard: SessionShard
    private let limits: SessionLimits

    init(_ app: ScriptedApp, limits: EngineLimits = EngineLimits()) throws {
        self.app = AppHost(app)
        self.limits = SessionLimits(engine: limits)
        shard = Self.shard(executor, storage, self.limits, log, clock)
        try storage.lifecycle.start()
    }

    convenience init(_ effects: @escaping @Sendable (TallyEvent, TallyApp.State) -> Effect<TallyEvent>) throws {
        try self.init(ScriptedApp(effects: effects))
    }

    private static func shard(
        _ executor: ManualExecutor,
        _ storage: HeldStorage,
        _ limits: SessionLimits,
        _ log: RecordedLog,
        _ clock: ManualClock
    ) -> SessionShard {
        SessionShard(
            environment: SessionEnvironment(
                executor: executor,
                storage: SessionStorage(storage),
                limits: limits,
                logger: Logger(label: "test") { _ in log },
                wallClock: { 1_000 },
                uptime: { clock.now.offset },
                schedule: { _, _ in },
                work: {
                    $0()
                    $1()
                },
                clock: clock,
                taskExecutor: executor,
                sink: RecordingSink(),
                makeGroupID: { GroupID(rawValue: 0) }
            )
        )
    }

    /// Forgets everything in memory, as a restart of the server does.
    func restart() {
        shard = Self.shard(executor, storage, limits, log, clock)
    }

    /// Sends events.
    ///
    /// The box gets the answer when it comes.
    @discardableResult
    func send(_ body: String) -> SessionHarness.Box {
        let box = SessionHarness.Box()
        let request = DispatchRequest(body: Array(body.utf8))
        shard.find(key, of: app) { found in
            switch found {
            case .success(let session): session.dispatch(request) { box.result = $0 }
            case .failure(let error): box.result = .failure(error)
            }
        }
        settle()
        return box
    }

    /// Runs all jobs until neither the session nor its storage has anything to do.
    func settle() {
        repeat {
            executor.runUntilIdle()
            // The request is answered after all earlier ones.
            let answered = DispatchSemaphore(value: 0)
            storage.engine.probe { _ in answered.signal() }
            answered.wait()
        } while !executor.isIdle
    }

    /// Moves the clock from deadline to deadline.
    func advance(by duration: Duration) {
        clock.advance(by: duration) { settle() }
    }

    /// The visible value at a path, as JSON text.
    func value(_ path: String) throws -> String {
        var text: Result<String, SessionError>?
        let pointer = try JSONPointer(parsing: path)
        shard.find(key, of: app) { found in
            text = found.flatMap { $0.read(pointer) }.map { String(decoding: $0.value, as: UTF8.self) }
        }
        settle()
        return try text?.get() ?? "no answer"
    }

    /// The marks of the events, in their order.
    var marks: String { get throws { try value("/p/marks") } }

    /// The log's errors and warnings, each as "message [event]".
    var errors: [String] { log.lines }
}

/// Records log lines at level warning and above.
final class RecordedLog: LogHandler {
    private let recorded = Mutex<[String]>([])

    var lines: [String] { recorded.withLock { $0 } }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        guard event.level >= .warning else { return }
        var names = ["app", "event", "milliseconds", "events", "error"].compactMap { name in
            event.metadata?[name].map { "\($0)" }
        }
        if let leftOut = event.metadata?["left_out"] { names.append("leftOut \(leftOut)") }
        recorded.withLock { $0.append("\(event.message) [\(names.joined(separator: ", "))]") }
    }
}
