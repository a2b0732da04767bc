import Synchronization

/// The part of a node that other threads read: its standing, and its right to serve.
final class NodeReport: Sendable {
    private let state: Mutex<ClusterStanding>
    /// The end of the right to serve; `.min` while there is none.
    private let deadline = Atomic<Int64>(.min)
    /// True while operations are taken.
    private let isOpen = Atomic<Bool>(false)

    init() { state = Mutex(ClusterStanding(role: .joining)) }

    var standing: ClusterStanding { state.withLock { $0 } }

    /// Sets the standing; false if it is the same as before.
    func set(_ standing: ClusterStanding) -> Bool {
        state.withLock { state in
            guard state != standing else { return false }
            state = standing
            return true
        }
    }

    /// Sets the end of the right to serve, and if operations are taken.
    func set(deadline: Int64, isOpen: Bool) {
        self.deadline.store(deadline, ordering: .sequentiallyConsistent)
        self.isOpen.store(isOpen, ordering: .sequentiallyConsistent)
    }

    func mayServe(at now: Int64) -> Bool { now < deadline.load(ordering: .sequentiallyConsistent) }

    /// The time to the end of the right to serve; 0 if there is none.
    func secondsLeft(at now: Int64) -> Double {
        let deadline = deadline.load(ordering: .sequentiallyConsistent)
        return deadline > now ? Double(deadline - now) / 1_000 : 0
    }

    var takesOperations: Bool { isOpen.load(ordering: .sequentiallyConsistent) }
}
