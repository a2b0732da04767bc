internal import Logging
import RivuletBase
import RivuletEngine
import RivuletJSON
import Synchronization

/// Saves the newest of the states that it receives.
///
/// There is no timer: a save starts if none is running, and all requests during a save become one save after it. Writes
/// thus keep their order, the newest requested state is saved, and a steady stream of requests cannot delay a save.
/// Source: <Tests/Rows/Systems.md#d-20> to D-22.
final class PersistenceManager<State: PersistentState>: Sendable {
    /// The time between a failed save and the next attempt.
    private static var retryAfter: Duration { .seconds(1) }

    private struct Progress {
        /// The newest requested state that is not durable; nil if there is none, or if it is being saved.
        var wanted: State?
        /// The numbers of the newest request and of the newest request with a durable state.
        var requested = 0
        var saved = 0
        var isSaving = false
        /// The document in the storage, if it is known.
        var stored: [UInt8]?
        var waiters: [Waiter] = []
        /// The reason that saving is refused.
        var refusal: StatePersistenceError?
        /// True if there will be no further requests.
        var isClosing = false
    }

    /// A caller that waits for a request to become durable.
    private struct Waiter {
        let request: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let key: String
    private let storage: any StateStorage
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let progress = Mutex(Progress())

    init(key: String, storage: any StateStorage, clock: any Clock<Duration>, logger: Logger) {
        self.key = key
        self.storage = storage
        self.clock = clock
        self.logger = logger
    }

    /// The reason that saving is refused, if the stored document could not be read.
    var refusal: StatePersistenceError? { progress.withLock { $0.refusal } }

    // MARK: - Reading

    /// Returns the stored state; nil if there is none.
    ///
    /// A document that cannot be read is reported and stays in the storage; from then on nothing is saved.
    func loadInitialState(over defaultValue: State) async -> State? {
        let document: [UInt8]?
        do {
            document = try await storage.load(key)
        } catch {
            return refuse(.unavailable(key: key, detail: "\(error)"))
        }
        progress.withLock { $0.stored = document }
        do {
            return try document.map { try StateDocument.decode($0, over: defaultValue) }
        } catch {
            return refuse(.unreadable(key: key, detail: "\(error)"))
        }
    }

    private func refuse(_ refusal: StatePersistenceError) -> State? {
        logger.error("\(refusal.logText)", metadata: ["key": "\(key)"])
        progress.withLock { $0.refusal = refusal }
        return nil
    }

    /// Returns the state that is stored now; nil if there is none, or none that can be read.
    func loadState(over defaultValue: State) async -> State? {
        do {
            return try await storage.load(key).map { try StateDocument.decode($0, over: defaultValue) }
        } catch {
            logger.error("the stored state cannot be read: \(LogText.of(error))", metadata: ["key": "\(key)"])
            return nil
        }
    }

    /// Copies a document that could not be read to a key of its own, and saves from now on.
    ///
    /// - Returns: The new key; nil if there is no such document.
    /// - Throws: The error of the storage; `unavailable` if the document could not be read, because it may be good;
    ///   `unreadable` if all keys are taken. Nothing has changed then.
    func setAside(locationsMax: Int) async throws -> String? {
        switch refusal {
        case nil: return nil
        case .unreadable: break
        case let refusal?: throw refusal
        }
        guard let document = try await storage.load(key) else {
            allowSaving()
            return nil
        }
        for number in 1...locationsMax {
            let name = "\(key).unreadable-\(number)"
            guard try await storage.load(name).map({ $0 == document }) ?? true else { continue }
            try await storage.save(document, under: name)
            logger.notice("the unreadable state was set aside", metadata: ["key": "\(key)", "place": "\(name)"])
            allowSaving()
            return name
        }
        throw StatePersistenceError.unreadable(key: key, detail: "\(locationsMax) such documents are set aside already")
    }

    private func allowSaving() {
        let starts = progress.withLock { progress in
            progress.refusal = nil
            return Self.start(&progress)
        }
        if starts { startSaving() }
    }

    // MARK: - Writing

    /// Requests a save of a state.
    ///
    /// Returns the request's number.
    @discardableResult
    func save(_ state: State) -> Int {
        let (request, starts) = progress.withLock { progress in
            progress.requested += 1
            progress.wanted = state
            return (progress.requested, Self.start(&progress))
        }
        if starts { startSaving() }
        return request
    }

    /// Returns when all requests until now are durable.
    ///
    /// - Throws: The error of the save that should have made them durable, or the reason that saving is refused. The
    ///   state still waits to be saved then.
    func flush() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let (answer, starts) = progress.withLock { progress -> (Result<Void, any Error>?, Bool) in
                guard progress.saved < progress.requested else { return (.success(()), false) }
                if let refusal = progress.refusal { return (.failure(refusal), false) }
                progress.waiters.append(Waiter(request: progress.requested, continuation: continuation))
                return (nil, Self.start(&progress))
            }
            if let answer { continuation.resume(with: answer) }
            if starts { startSaving() }
        }
    }

    /// Marks the end of the requests.
    ///
    /// If a state still waits to be saved, only one more attempt is made.
    func close() {
        progress.withLock { $0.isClosing = true }
    }

    private static func start(_ progress: inout Progress) -> Bool {
        guard !progress.isSaving, progress.refusal == nil, progress.wanted != nil else { return false }
        progress.isSaving = true
        return true
    }

    private func startSaving() {
        Task {
            while let (state, request) = nextSave() {
                guard await isSaved(state, request) else { return }
            }
        }
    }

    private func nextSave() -> (State, Int)? {
        progress.withLock { progress in
            guard let state = progress.wanted else {
                progress.isSaving = false
                return nil
            }
            progress.wanted = nil
            return (state, progress.requested)
        }
    }

    /// Makes a state durable.
    ///
    /// Returns false if the saving task must end.
    private func isSaved(_ state: State, _ request: Int) async -> Bool {
        do {
            let document = try StateDocument.encode(state)
            if progress.withLock({ $0.stored }) != document {
                progress.withLock { $0.stored = nil }
                try await storage.save(document, under: key)
            }
            end(request, storing: document)
            return true
        } catch {
            return await goesOn(after: error, state, request)
        }
    }

    private func end(_ request: Int, storing document: [UInt8]) {
        let waiters = progress.withLock { progress in
            progress.saved = request
            progress.stored = document
            return Self.takeWaiters(&progress, until: request)
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Reports a failure, keeps the state, and waits before the next attempt; returns false if there is no next
    /// attempt.
    private func goesOn(after error: any Error, _ state: State, _ request: Int) async -> Bool {
        // A value that JSON cannot represent fails again at the next attempt. A storage may work again.
        let isFinal = error is StatePersistenceError
        let (waiters, ends) = progress.withLock { progress in
            if progress.wanted == nil { progress.wanted = state }
            let ends = isFinal && progress.requested == request || progress.isClosing
            if ends { progress.isSaving = false }
            return (Self.takeWaiters(&progress, until: request), ends)
        }
        let outlook = ends ? "" : "; it will be tried again"
        logger.error("the state was not saved: \(LogText.of(error))\(outlook)", metadata: ["key": "\(key)"])
        for waiter in waiters { waiter.continuation.resume(throwing: error) }
        guard !ends else { return false }
        if !isFinal {
            do {
                try await clock.sleep(for: Self.retryAfter)
            } catch {
                // The clock cannot wait, so the next attempt begins now.
            }
        }
        return true
    }

    private static func takeWaiters(_ progress: inout Progress, until request: Int) -> [Waiter] {
        let isOver = { (waiter: Waiter) in waiter.request <= request }
        defer { progress.waiters.removeAll(where: isOver) }
        return progress.waiters.filter(isOver)
    }
}
