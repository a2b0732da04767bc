// Owns a small app of plain types, and its observers for tests.

import InMemoryLogging
import Logging
import RivuletEngine
import RivuletInProcess
import Synchronization

struct Saved: PersistentState {
    var count = 0
    var words: [String] = []
    var ratio = 0.5
}

struct Shown: Equatable, Sendable {
    var last: String?
}

typealias DeedState = AppState<Saved, Shown>
typealias DeedManager = UIStateManager<Saved, Shown>

enum Deed: AppEvent, Equatable {
    case add(Int)
    case quietAdd(Int)
    case say(String)
    case ratio(Double)
    case fail

    var persist: Bool {
        if case .quietAdd = self { false } else { true }
    }
    var isUIEvent: Bool { true }

    static let reducer = AnyReducer<DeedState>(Deed.self) { state, event in
        switch event {
        case .add(let amount), .quietAdd(let amount): state.p.count += amount
        case .say(let word):
            state.p.words.append(word)
            state.t.last = word
        case .ratio(let ratio): state.p.ratio = ratio
        case .fail:
            state.p.count = -1
            throw RejectionError("no")
        }
    }
}

struct Stranger: AppEvent {
    var persist: Bool { true }
    var isUIEvent: Bool { false }
}

/// A log of events in order, from any thread.
final class Journal: Sendable {
    private let lines = Mutex<[String]>([])

    var entries: [String] { lines.withLock { $0 } }

    func note(_ line: String) {
        lines.withLock { $0.append(line) }
    }
}

/// Records the counts of the states that it gets.
final class CountListener: StateListener {
    private let contents = Mutex((counts: [Int](), zombie: false))
    private let onUpdate: @Sendable (DeedState) -> Void

    init(_ onUpdate: @escaping @Sendable (DeedState) -> Void = { _ in }) {
        self.onUpdate = onUpdate
    }

    var counts: [Int] { contents.withLock { $0.counts } }

    var zombie: Bool {
        get { contents.withLock { $0.zombie } }
        set { contents.withLock { $0.zombie = newValue } }
    }

    func updateState(_ stateHolder: AnyObject) {
        guard let holder = stateHolder as? StateHolder<Saved, Shown> else { return }
        contents.withLock { $0.counts.append(holder.state.p.count) }
        onUpdate(holder.state)
    }

    func getStateObject() -> CountListener { self }
}

/// A storage with saves that a test can hold or make fail.
final class ScriptedStorage: StateStorage {
    struct Broken: Error {}

    private let contents: Mutex<(documents: [String: String], saves: [String], failures: Int, loadFails: Bool)>
    private let gate: Gate?

    init(_ documents: [String: String] = [:], gate: Gate? = nil, failures: Int = 0, loadFails: Bool = false) {
        contents = Mutex((documents, [], failures, loadFails))
        self.gate = gate
    }

    /// The documents by their keys.
    var documents: [String: String] { contents.withLock { $0.documents } }
    /// All saved documents, in order.
    var saves: [String] { contents.withLock { $0.saves } }

    func load(_ key: String) async throws -> [UInt8]? {
        try contents.withLock { contents in
            guard !contents.loadFails else { throw Broken() }
            return contents.documents[key].map { Array($0.utf8) }
        }
    }

    func save(_ document: [UInt8], under key: String) async throws {
        await gate?.pass()
        try contents.withLock { contents in
            guard contents.failures == 0 else {
                contents.failures -= 1
                throw Broken()
            }
            contents.documents[key] = String(decoding: document, as: UTF8.self)
            contents.saves.append(String(decoding: document, as: UTF8.self))
        }
    }
}

extension UIStateManager where Persistent == Saved, Transient == Shown {
    /// A manager of deeds, by default without persistence and with a clock that does not move.
    static func deeds(
        key: String? = nil,
        storage: any StateStorage = MemoryStateStorage(),
        filter: DispatchFilter? = nil,
        effects: Effects? = nil,
        limits: EngineLimits = EngineLimits(),
        clock: any Clock<Duration> = ScriptedClock(),
        log: InMemoryLogHandler = InMemoryLogHandler()
    ) async -> DeedManager {
        await DeedManager(
            defaultState: { DeedState(t: Shown(), p: Saved()) },
            persistenceKey: key,
            storage: storage,
            dispatchFilter: filter,
            reducers: [Deed.reducer],
            effects: effects,
            limits: limits,
            clock: clock,
            logger: Logger(label: "test") { _ in log }
        )
    }
}
