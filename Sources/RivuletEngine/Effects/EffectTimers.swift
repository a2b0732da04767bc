/// Timers by deadline.
///
/// Timers with equal deadlines keep the order in which they were set.
///
/// A session has few timers (`EngineLimits.timersMax`), so a sorted array is fast enough.
struct EffectTimers: Sendable {
    struct Timer: Sendable {
        let deadline: Duration
        let target: Target
    }

    enum Target: Hashable, Sendable {
        /// A delay or a repeating timer.
        case node(EffectTaskID)
        /// The end of a throttle's interval.
        case interval(EffectID)
        /// The end of the time for which the queue waits.
        case timeLimit(EffectTaskID)

        /// True if the limit `EngineLimits.timersMax` includes the timer.
        fileprivate var isCounted: Bool {
            if case .timeLimit = self { false } else { true }
        }
    }

    private var timers: [Timer] = []
    /// The number of timers that the limit includes.
    private(set) var count = 0

    var first: Timer? { timers.first }

    mutating func insert(_ target: Target, at deadline: Duration) {
        let index = timers.lastIndex { $0.deadline <= deadline }.map { $0 + 1 } ?? 0
        timers.insert(Timer(deadline: deadline, target: target), at: index)
        if target.isCounted { count += 1 }
    }

    mutating func remove(_ target: Target) {
        guard let index = timers.firstIndex(where: { $0.target == target }) else { return }
        timers.remove(at: index)
        if target.isCounted { count -= 1 }
    }

    /// Removes and returns the first timer if its time has come.
    mutating func popFirst(until now: Duration) -> Timer? {
        guard let first, first.deadline <= now else { return nil }
        timers.removeFirst()
        if first.target.isCounted { count -= 1 }
        return first
    }
}
