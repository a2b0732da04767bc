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
        /// The number of requests that were submitted and are not finished.
        var requests = 0
        var bytes = 0
        var phase = Phase.new
        var isWorkerAsleep = false
        /// True if the worker was called for work other than requests.
        var isCalled = false

        /// Returns true if the worker must be woken, and marks it as awake.
        mutating func takeWorkerAsleep() -> Bool {
            defer { isWorkerAsleep = false }
            return isWorkerAsleep
        }
    }

    private enum Phase {
        /// The phase before the first opening, in which only requests that may wait for the opening are accepted.
        case new
        /// The phase in which every request gets this error.
        case refusing(StorageError)
        /// The phase in which requests are accepted.
        case open
        /// The phase in which the worker answers the accepted requests, then ends.
        case closed
    }

    /// The next work of the worker.
    enum Work {
        /// The waiting requests, oldest first; empty if the worker was only called.
        case requests([Request])
        /// No request came in the given time.
        case none
        /// The queue is closed and empty.
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

    /// Returns to the phase before the first opening, because the opening was undone.
    func renew() {
        state.withLock { $0.phase = .new }
    }

    /// Refuses requests from now on; the worker still answers the waiting requests.
    func refuse(with error: StorageError) {
        state.withLock { state in
            if case .closed = state.phase { return }
            state.phase = .refusing(error)
        }
    }

    /// Refuses requests from now on, and ends the worker after it has answered the waiting requests.
    func close() {
        let wakes = state.withLock { state in
            state.phase = .closed
            return state.takeWorkerAsleep()
        }
        if wakes { wakeUp.signal() }
    }

    /// Queues a request of a size in bytes; returns an error if the request is refused.
    ///
    /// A request that `waits` is also accepted before the first opening.
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
                let detail = "\(state.requests) requests with \(state.bytes) bytes wait for the disk; try again later"
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

    /// Makes the worker take the waiting requests, even if there are none, before it sleeps again or ends.
    func call() {
        let wakes = state.withLock { state in
            state.isCalled = true
            return state.takeWorkerAsleep()
        }
        if wakes { wakeUp.signal() }
    }

    /// Takes all waiting requests; if there are none, sleeps for at most the given time.
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

    /// Releases the room of answered requests.
    func finish(_ requests: Int, byteCount: Int) {
        state.withLock { state in
            state.requests -= requests
            state.bytes -= byteCount
        }
    }
}
