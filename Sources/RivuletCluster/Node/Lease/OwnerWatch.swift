/// The record of the partition's owner, as this node sees it.
struct OwnerWatch {
    /// The state of the owner's record.
    enum Sight: Hashable {
        /// The record was not read yet.
        case unknown
        /// The record has had this revision since this time, and the same content since another.
        case record(NodeRecord, revision: UInt64, since: Int64, sameSince: Int64)
        /// The node has no record, or one that this build cannot read, since this time.
        case missing(revision: UInt64, since: Int64)
    }

    /// A reading of the owner's record.
    struct Reading: Hashable {
        let node: String
        /// The number of the owner among those that were watched.
        fileprivate let owner: Int
    }

    /// The claim of the watched owner; nil if there is none.
    private(set) var claim: Claim?
    private(set) var sight = Sight.unknown
    private var owner = 0
    private var isReading = false
    private var next = Int64.min
    private var value: [UInt8] = []

    /// Watches the node of a claim; its record has not been seen then.
    ///
    /// A record that was seen before the claim says nothing about it, also if it is of the same node: it may be of an
    /// earlier run, which looks like a later one.
    mutating func watch(_ claim: Claim?) {
        guard claim != self.claim else { return }
        (self.claim, sight, isReading, next, value) = (claim, .unknown, false, .min, [])
        owner += 1
    }

    /// Returns the record to read now.
    mutating func due(at now: Int64) -> Reading? {
        guard let claim, !isReading, now >= next else { return nil }
        isReading = true
        return Reading(node: claim.node, owner: owner)
    }

    /// Takes the record of a node; `interval` is the time to the next read.
    mutating func didRead(
        _ result: Result<ClusterRecord?, LogError>,
        _ reading: Reading,
        at now: Int64,
        interval: Int64
    ) {
        guard reading.owner == owner else { return }
        isReading = false
        next = now + interval
        guard case .success(let read) = result else { return }
        guard let read else { return see(.missing(revision: 0, since: now)) }
        if case .record(_, read.revision, _, _) = sight { return }
        if case .record(let record, _, _, let sameSince) = sight, value == read.value {
            return sight = .record(record, revision: read.revision, since: now, sameSince: sameSince)
        }
        value = read.value
        do {
            let record = try NodeRecord(bytes: read.value)
            sight = .record(record, revision: read.revision, since: now, sameSince: now)
        } catch {
            see(.missing(revision: read.revision, since: now))
        }
    }

    private mutating func see(_ new: Sight) {
        if case .missing(let revision, _) = sight, case .missing(revision, _) = new { return }
        sight = new
    }

    /// Reads the record again at this time at the latest.
    mutating func read(at time: Int64) { next = min(next, time) }

    /// The time of the next read; nil while one is under way.
    var wake: Int64? { claim != nil && !isReading ? next : nil }
}
