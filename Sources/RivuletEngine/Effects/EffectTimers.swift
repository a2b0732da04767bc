/// Timers by deadline; of equal deadlines the one set first comes first.
///
/// A session has few (`EngineLimits.timersMax`), so a sorted array is enough.
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

        /// Whether it counts for `EngineLimits.timersMax`.
        fileprivate var isCounted: Bool {
            if case .timeLimit = self { false } else { true }
        }
    }

    private var timers: [Timer] = []
    /// How many count for the limit.
    private(set) var count = 0

    var first: Timer? { timers.first }

    mutating func insert(_ target: Target, at deadline: Duration) {
        let place = timers.lastIndex { $0.deadline <= deadline }.map { $0 + 1 } ?? 0
        timers.insert(Timer(deadline: deadline, target: target), at: place)
        if target.isCounted { count += 1 }
    }

    mutating func remove(_ target: Target) {
        guard let place = timers.firstIndex(where: { $0.target == target }) else { return }
        timers.remove(at: place)
        if target.isCounted { count -= 1 }
    }

    /// Takes the first timer if its time has come.
    mutating func popFirst(until now: Duration) -> Timer? {
        guard let first, first.deadline <= now else { return nil }
        timers.removeFirst()
        if first.target.isCounted { count -= 1 }
        return first
    }
}
