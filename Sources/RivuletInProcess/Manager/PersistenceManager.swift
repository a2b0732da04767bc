internal import Logging
import RivuletBase
import RivuletEngine
import RivuletJSON
import Synchronization

/// Saves the newest of the states that it is given.
///
/// There is no timer to wait for: a save starts when none is under way, and what is asked for meanwhile is one save after it. So writes
/// keep their order, none is lost, and a steady stream of requests cannot put them off.
/// Source: <Tests/Rows/Systems.md#d-20> to D-22.
final class PersistenceManager<State: PersistentState>: Sendable {
    /// How long after a failed save the next one is tried.
    private static var retryAfter: Duration { .seconds(1) }

    private struct Progress {
        /// The newest state that was asked for and is not durable; nil: there is none, or it is being saved.
        var wanted: State?
        /// The number of the newest request, and of the newest one whose state is durable.
        var requested = 0
        var saved = 0
        var isSaving = false
        /// The document in the storage, if that is known.
        var stored: [UInt8]?
        var waiters: [Waiter] = []
        /// Why nothing may be saved.
        var refusal: StatePersistenceError?
        /// Whether nobody will ask any more.
        var isClosing = false
    }

    /// Somebody who waits for a request to become durable.
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

    /// Why nothing is saved, if the stored document could not be read.
    var refusal: StatePersistenceError? { progress.withLock { $0.refusal } }

    // MARK: - Reading

    /// The stored state; nil when there is none.
    ///
    /// A document that cannot be read is reported, and stays where it is: from then on nothing is saved.
    func loadInitialState(over standard: State) async -> State? {
        let document: [UInt8]?
        do {
            document = try await storage.load(key)
        } catch {
            return refuse(.unavailable(key: key, detail: "\(error)"))
        }
        progress.withLock { $0.stored = document }
        do {
            return try document.map { try StateDocument.decode($0, over: standard) }
        } catch {
            return refuse(.unreadable(key: key, detail: "\(error)"))
        }
    }

    private func refuse(_ refusal: StatePersistenceError) -> State? {
        logger.error("\(refusal.logText)", metadata: ["key": "\(key)"])
        progress.withLock { $0.refusal = refusal }
        return nil
    }

    /// What is stored now; nil when there is nothing, or nothing that can be read.
    func loadState(over standard: State) async -> State? {
        do {
            return try await storage.load(key).map { try StateDocument.decode($0, over: standard) }
        } catch {
            logger.error("the stored state cannot be read: \(LogText.of(error))", metadata: ["key": "\(key)"])
            return nil
        }
    }

    /// Keeps a document that could not be read under a key of its own too, and saves from now on.
    ///
    /// - Returns: that key; nil when there is no such document.
    /// - Throws: what the storage throws, or `unavailable`, since a document that was not read may be good; all is as before then.
    func setAside(placesMax: Int) async throws -> String? {
        switch refusal {
        case nil: return nil
        case .unreadable: break
        case let refusal?: throw refusal
        }
        guard let document = try await storage.load(key) else {
            allowSaving()
            return nil
        }
        for number in 1...placesMax {
            let place = "\(key).unreadable-\(number)"
            guard try await storage.load(place).map({ $0 == document }) ?? true else { continue }
            try await storage.save(document, under: place)
            logger.notice("the unreadable state was set aside", metadata: ["key": "\(key)", "place": "\(place)"])
            allowSaving()
            return place
        }
        throw StatePersistenceError.unreadable(key: key, detail: "\(placesMax) such documents are set aside already")
    }

    private func allowSaving() {
        let starts = progress.withLock { progress in
            progress.refusal = nil
            return Self.start(&progress)
        }
        if starts { startSaving() }
    }

    // MARK: - Writing

    /// Takes a state that is to be saved; returns the request's number.
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

    /// Returns when what was asked for until now is durable.
    ///
    /// - Throws: the error of the save that should have made it durable, or why nothing is saved; it is still to be saved then.
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

    /// Says that nobody will ask any more: what is to be saved is tried once more.
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

    /// Makes a state durable; false when it is over with saving for now.
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

    /// Tells of a failure, keeps the state, and waits before the next try.
    private func goesOn(after error: any Error, _ state: State, _ request: Int) async -> Bool {
        // A value that JSON cannot carry is no better the next time, a storage may be.
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
                // A clock that does not wait: the next try is now.
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
