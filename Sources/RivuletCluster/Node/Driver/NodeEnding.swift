/// The end of a node's part: the drain, and the stop.
struct NodeEnding {
    private(set) var isDraining = false
    /// True if nothing happens any more.
    private(set) var isStopped = false
    private var drains: [@Sendable () -> Void] = []
    private var stops: [@Sendable () -> Void] = []
    /// The time at which the replies come in any case.
    private var deadline = Int64.max

    /// The time at which a node that has lost the partition does not wait for its last frame any more.
    private var retirement: Int64?

    mutating func retire(until time: Int64) { if retirement == nil { retirement = time } }

    func isRetired(at now: Int64) -> Bool { retirement.map { now >= $0 } ?? false }

    var isStopping: Bool { !stops.isEmpty }
    var isWaiting: Bool { !drains.isEmpty || !stops.isEmpty }
    var wake: Int64? { isWaiting ? min(deadline, retirement ?? .max) : retirement }

    mutating func drain(until deadline: Int64, _ reply: @escaping @Sendable () -> Void) {
        isDraining = true
        self.deadline = min(self.deadline, deadline)
        drains.append(reply)
    }

    mutating func stop(until deadline: Int64, _ reply: @escaping @Sendable () -> Void) {
        isDraining = true
        self.deadline = min(self.deadline, deadline)
        stops.append(reply)
    }

    func isOver(at now: Int64) -> Bool { isWaiting && now >= deadline }

    mutating func didDrain() -> [@Sendable () -> Void] {
        defer { drains = [] }
        if stops.isEmpty { deadline = .max }
        return drains
    }

    mutating func didStop() -> [@Sendable () -> Void] {
        defer { stops = [] }
        isStopped = true
        return didDrain() + stops
    }
}
