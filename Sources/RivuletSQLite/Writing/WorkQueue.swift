internal import RivuletSessions
internal import Synchronization

/// A bounded queue that many threads fill and one thread empties.
final class WorkQueue<Request: Sendable>: Sendable {
    private let requestsMax: Int
    private let bytesMax: Int
    private let requestsBeforeOpeningMax: Int
    private let state = Mutex(State())
    private let wakeUp = Semaphore()

    private struct State {
        var waiting: [Request] = []
        /// Requests that were submitted and not yet finished.
        var requests = 0
        var bytes = 0
        var phase = Phase.new
        var isWorkerAsleep = false
        /// Whether the worker has something else to look after.
        var isCalled = false

        /// Whether the worker must be woken, which is then taken as done.
        mutating func takeWorkerAsleep() -> Bool {
            defer { isWorkerAsleep = false }
            return isWorkerAsleep
        }
    }

    private enum Phase {
        /// The phase until the first opening, in which only requests are accepted that may wait for it.
        case new
        /// The phase in which every request gets this error.
        case refusing(StorageError)
        /// The phase in which requests are accepted.
        case open
        /// The phase in which the worker answers what was accepted, and ends.
        case closed
    }

    /// What the worker is to do.
    enum Work {
        /// The state of having requests, oldest first; none when the worker was only called.
        case requests([Request])
        /// The state of having had none for the time given.
        case none
        /// The state of being closed and empty.
        case end
    }

    init(requestsMax: Int, bytesMax: Int, requestsBeforeOpeningMax: Int = 0) {
        self.requestsMax = requestsMax
        self.bytesMax = bytesMax
        self.requestsBeforeOpeningMax = requestsBeforeOpeningMax
    }

    /// Begins to accept requests.
    func open() {
        state.withLock { $0.phase = .open }
    }

    /// Is as before the first opening, which was taken back.
    func renew() {
        state.withLock { $0.phase = .new }
    }

    /// Refuses requests from now on; those that wait already are the worker's to answer.
    func refuse(with error: StorageError) {
        state.withLock { state in
            if case .closed = state.phase { return }
            state.phase = .refusing(error)
        }
    }

    /// Refuses requests from now on, and lets the worker end once it has answered those that wait.
    func close() {
        let wakes = state.withLock { state in
            state.phase = .closed
            return state.takeWorkerAsleep()
        }
        if wakes { wakeUp.signal() }
    }

    /// Queues a request of this size, also before the first opening if it `waits` for that; or the reason why not.
    func submit(_ request: Request, byteCount: Int, waits: Bool = false) -> StorageError? {
        let (refusal, wakes) = state.withLock { state -> (StorageError?, Bool) in
            switch state.phase {
            case .new where !waits: return (.unavailable(detail: "start() has not been called"), false)
            case .new where state.requests >= requestsBeforeOpeningMax:
                return (.unavailable(detail: "\(state.requests) requests wait for start() already"), false)
            case .new: break
            case .refusing(let error): return (error, false)
            case .closed: return (.closed, false)
            case .open: break
            }
            guard state.requests == 0 || (state.requests < requestsMax && state.bytes + byteCount <= bytesMax) else {
                let detail = "\(state.requests) requests of \(state.bytes) bytes wait for the disk already; try again"
                return (.unavailable(detail: detail), false)
            }
            state.waiting.append(request)
            state.requests += 1
            state.bytes += byteCount
            return (nil, state.takeWorkerAsleep())
        }
        if wakes { wakeUp.signal() }
        return refusal
    }

    /// Has the worker take what waits, also if that is nothing, before it sleeps again or ends.
    func call() {
        let wakes = state.withLock { state in
            state.isCalled = true
            return state.takeWorkerAsleep()
        }
        if wakes { wakeUp.signal() }
    }

    /// Takes everything that waits; sleeps while there is nothing, at most for the time given.
    func take(idleMilliseconds: Int?) -> Work {
        while true {
            let work = state.withLock { state -> Work? in
                guard state.waiting.isEmpty, !state.isCalled else {
                    defer { (state.waiting, state.isCalled) = ([], false) }
                    return .requests(state.waiting)
                }
                if case .closed = state.phase { return .end }
                state.isWorkerAsleep = true
                return nil
            }
            if let work { return work }
            guard let idleMilliseconds else {
                wakeUp.wait()
                continue
            }
            // A signal that comes just after the time is up only makes the next sleep shorter.
            if !wakeUp.wait(milliseconds: idleMilliseconds) { return .none }
        }
    }

    /// Gives back the room of requests that have been answered.
    func finish(_ requests: Int, byteCount: Int) {
        state.withLock { state in
            state.requests -= requests
            state.bytes -= byteCount
        }
    }
}
