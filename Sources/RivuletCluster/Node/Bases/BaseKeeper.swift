/// The time of the next base: the log since the last one is larger than the least size and than that base.
struct BaseKeeper {
    enum Phase: Hashable {
        case idle
        /// The record of the newest base is read, because another node may have stored one.
        case looking
        case exporting
        case storing
        case recording
        case cutting
    }

    private let bytesMin: Int
    private(set) var phase = Phase.idle
    private(set) var position = LogPosition.start
    private var byteCount = 0
    private var bytesSince = 0
    private var next = Int64.min
    /// The revision of the record of the newest base.
    private(set) var revision: UInt64 = 0

    init(_ limits: ClusterNodeLimits) { bytesMin = limits.baseBytesMin }

    mutating func didAccept(byteCount: Int) { bytesSince += byteCount }

    /// True if this node should store a base now.
    func isDue(at now: Int64) -> Bool {
        phase == .idle && now >= next && bytesSince > max(bytesMin, byteCount)
    }

    mutating func go(to phase: Phase) { self.phase = phase }

    /// Takes the record of the newest base; true if a new base is still needed.
    mutating func didLook(_ base: BaseRecord?, revision: UInt64) -> Bool {
        self.revision = revision
        guard let base, base.position > position else {
            phase = .exporting
            return true
        }
        adopt(base)
        return false
    }

    /// Counts the log from a base on.
    mutating func adopt(_ base: BaseRecord) {
        (position, byteCount, bytesSince, phase) = (base.position, base.byteCount, 0, .idle)
    }

    mutating func didFail(at now: Int64, delay: Int64) { (phase, next) = (.idle, now + delay) }
}
