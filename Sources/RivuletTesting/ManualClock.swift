import Synchronization

/// A clock for tests: time passes only by ``advance(by:)``, and then at once.
///
/// Who sleeps until a moment is woken when the clock gets there, in the order of the moments, and of the calls where moments are equal.
/// With ``advance(by:running:)`` everything that follows from one moment is done before the next comes. Any thread may use it.
public final class ManualClock: Clock {
    /// A moment of the clock, by its distance from the clock's beginning.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// How much time had passed by then.
        public let offset: Duration

        /// The moment when so much time has passed.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// The moment so much later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// How much later the other moment is.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// The distance from the clock's beginning.
        public var description: String { "\(offset)" }

        /// Whether the one comes before the other.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper: Sendable {
        let id: UInt64
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now = Instant()
        var sleepers: [Sleeper] = []
        var lastID: UInt64 = 0
        /// Sleeps that were cancelled before they began.
        var cancelled: Set<UInt64> = []

        mutating func makeID() -> UInt64 {
            lastID += 1
            return lastID
        }

        /// Takes those out whose time has come, in order.
        mutating func wake(until moment: Instant) -> [Sleeper] {
            let awake = sleepers.filter { $0.deadline <= moment }
            sleepers.removeAll { $0.deadline <= moment }
            return awake
        }
    }

    private let state = Mutex(State())

    /// Makes a clock that stands at zero.
    public init() {}

    /// Where the clock stands.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: the clock is exact.
    public var minimumResolution: Duration { .zero }

    /// The moments for which somebody sleeps, in their order.
    public var deadlines: [Instant] { state.withLock { $0.sleepers.map(\.deadline) } }

    /// Waits until the clock has been moved there.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { $0.makeID() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(Sleeper(id: id, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func begin(_ sleeper: Sleeper) {
        let end: Result<Void, any Error>? = state.withLock { state in
            if state.cancelled.remove(sleeper.id) != nil { return .failure(CancellationError()) }
            guard sleeper.deadline > state.now else { return .success(()) }
            let place = state.sleepers.lastIndex { $0.deadline <= sleeper.deadline }.map { $0 + 1 } ?? 0
            state.sleepers.insert(sleeper, at: place)
            return nil
        }
        if let end { sleeper.continuation.resume(with: end) }
    }

    private func cancel(_ id: UInt64) {
        let sleeper: Sleeper? = state.withLock { state in
            guard let place = state.sleepers.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.sleepers.remove(at: place)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }

    /// Moves the clock, and wakes who sleeps until then; it does not wait for what they do.
    public func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            return state.wake(until: state.now)
        }
        for sleeper in awake { sleeper.continuation.resume() }
    }

    /// Moves the clock from one deadline to the next, and at each does everything that there is to be done on the executor.
    ///
    /// What becomes due meanwhile has its turn at its own moment.
    public func advance(by duration: Duration, running executor: ManualExecutor) {
        advance(by: duration) { executor.runUntilIdle() }
    }

    /// Moves the clock from one deadline to the next, and at each, before the first and after the last lets `settle` do everything that there
    /// is to be done.
    ///
    /// For tests with other threads than an executor's, which `settle` has to wait for.
    public func advance(by duration: Duration, settle: () -> Void) {
        settle()
        let end = now.advanced(by: duration)
        while let next = deadlines.first, next <= end {
            advance(by: now.duration(to: next))
            settle()
        }
        advance(by: now.duration(to: end))
        settle()
    }
}
