import Synchronization

/// A clock for tests: time passes only by ``advance(by:)``, and then at once.
///
/// A sleeper is woken when the clock reaches its moment. Sleepers wake in the order of the moments, and in the order of
/// the calls if moments are equal. With ``advance(by:running:)``, all work of one moment is done before the next moment
/// comes. Any thread may use the clock.
public final class ManualClock: Clock {
    /// A moment of the clock, by its distance from the clock's beginning.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time from the clock's beginning to this moment.
        public let offset: Duration

        /// Makes the moment at a distance from the clock's beginning.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// Returns the moment that is later by a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this moment to the other one.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// The distance from the clock's beginning.
        public var description: String { "\(offset)" }

        /// Returns true if the left moment is before the right one.
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

        /// Removes and returns the sleepers that are due, in order.
        mutating func wake(until moment: Instant) -> [Sleeper] {
            let awake = sleepers.filter { $0.deadline <= moment }
            sleepers.removeAll { $0.deadline <= moment }
            return awake
        }
    }

    private let state = Mutex(State())

    /// Makes a clock that stands at zero.
    public init() {}

    /// The clock's present moment.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: the clock is exact.
    public var minimumResolution: Duration { .zero }

    /// The moments at which sleepers wake, in their order.
    public var deadlines: [Instant] { state.withLock { $0.sleepers.map(\.deadline) } }

    /// Waits until the clock has reached a moment.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
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
            let index = state.sleepers.lastIndex { $0.deadline <= sleeper.deadline }.map { $0 + 1 } ?? 0
            state.sleepers.insert(sleeper, at: index)
            return nil
        }
        if let end { sleeper.continuation.resume(with: end) }
    }

    private func cancel(_ id: UInt64) {
        let sleeper: Sleeper? = state.withLock { state in
            guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.sleepers.remove(at: index)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }

    /// Moves the clock, and wakes the sleepers that are due; does not wait for their work.
    public func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            return state.wake(until: state.now)
        }
        for sleeper in awake { sleeper.continuation.resume() }
    }

    /// Moves the clock from one deadline to the next, and runs all work of the executor at each.
    ///
    /// Work that becomes due meanwhile runs at its own moment.
    public func advance(by duration: Duration, running executor: ManualExecutor) {
        advance(by: duration) { executor.runUntilIdle() }
    }

    /// Moves the clock from one deadline to the next, and calls `settle` at the start, at each deadline and at the end.
    ///
    /// `settle` must do all work that is due. Use this function if work runs on threads other than an executor's, for
    /// which `settle` has to wait.
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
