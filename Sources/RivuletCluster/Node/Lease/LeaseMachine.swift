/// The node's own record, from its taking to its loss.
///
/// All times are milliseconds of the node's clock. One request is under way at a time.
struct LeaseMachine {
    enum Action: Hashable {
        case read
        case put([UInt8], after: UInt64)
    }

    /// The reason that the node has no record any more, and must not renew it.
    enum Loss: Hashable {
        /// Another node has ended the right of this run.
        case fenced
        /// Another run of the same name has the record.
        case replaced(by: UInt64)
    }

    private enum Request: Hashable {
        case read
        case put(sent: Int64, state: NodeRecord.State)
    }

    private var record: NodeRecord
    /// The run of this node that certainly has ended.
    private let endedIncarnation: UInt64?
    /// The bytes of `record`.
    private var value: [UInt8]
    private var request: Request?
    /// The revision of the own record; nil until it is taken.
    private var revision: UInt64?
    /// The revision over which to write; nil until it is known.
    private var base: UInt64?
    /// The record of another run, while it may be alive: its revision, the time since it is unchanged, and its changes.
    private var other: (revision: UInt64, since: Int64, changes: Int)?
    /// The state that is stored.
    private(set) var storedState: NodeRecord.State?
    /// The end of the right; `.min` before it is known.
    private(set) var deadline = Int64.min
    private(set) var loss: Loss?
    /// The time of the next request.
    private(set) var next = Int64.min

    init(_ options: ClusterNodeOptions) {
        record = options.record
        endedIncarnation = options.endedIncarnation
        value = record.bytes
    }

    /// True if the record is this run's.
    var isTaken: Bool { revision != nil && loss == nil }

    /// True if no other node may have the right of this one now.
    func isHeld(at now: Int64) -> Bool { isTaken && now < deadline }

    /// Changes the state; it is written at once.
    mutating func set(_ state: NodeRecord.State) {
        guard record.state != state else { return }
        record.state = state
        value = record.bytes
        next = .min
    }

    /// True if the stored record says that the run has ended, or never will.
    var hasStoredEnd: Bool { loss != nil || storedState == .gone }

    mutating func due(at now: Int64) -> Action? {
        guard request == nil, loss == nil, now >= next else { return nil }
        guard let base else {
            request = .read
            return .read
        }
        request = .put(sent: now, state: record.state)
        return .put(value, after: base)
    }

    mutating func didPut(_ outcome: RecordOutcome, at now: Int64) {
        guard case .put(let sent, let state) = request else { return }
        request = nil
        switch outcome {
        case .stored(let revision):
            (self.revision, base, other) = (revision, revision, nil)
            storedState = state
            deadline = state == .gone ? .min : max(deadline, sent + record.lease)
            next = state == record.state ? (state == .gone ? .max : sent + record.lease / 3) : now
        case .conflict, .unknown:
            // An unknown write may have been stored, with a revision that only the record tells.
            base = nil
            next = now
        case .refused:
            next = now + retryDelay
        }
    }

    mutating func didRead(_ result: Result<ClusterRecord?, LogError>, at now: Int64) {
        guard request == .read else { return }
        request = nil
        next = now
        guard case .success(let read) = result else {
            next = now + retryDelay
            return
        }
        guard let read else {
            // A removed record counts as fenced: another node may have seen that it is not there.
            if revision != nil { loss = .fenced } else { base = 0 }
            return
        }
        // A record that cannot be read is left to its writer, as one that is alive.
        let stored = try? NodeRecord(bytes: read.value)
        if let stored, stored.incarnation == record.incarnation {
            // Another node's fence has this incarnation, too.
            guard stored.state != .fenced else { return loss = .fenced }
            (revision, base) = (read.revision, read.revision)
        } else if revision != nil {
            loss = .replaced(by: stored?.incarnation ?? 0)
        } else {
            take(stored, revision: read.revision, at: now)
        }
    }

    /// Takes the record of another run as soon as that run has no right.
    private mutating func take(_ stored: NodeRecord?, revision: UInt64, at now: Int64) {
        if let stored, !stored.mayHaveRight || stored.incarnation == endedIncarnation { return base = revision }
        guard let seen = other, seen.revision == revision else {
            // The last renewal of a run that has ended may still have been under way, but no second one.
            let changes = other.map { $0.changes + 1 } ?? 0
            guard changes < 2 else { return loss = .replaced(by: stored?.incarnation ?? 0) }
            other = (revision, now, changes)
            next = now + record.lease / 8
            return
        }
        let end = seen.since + NodeTimes.watch(of: stored?.lease ?? record.lease)
        if now >= end { base = revision } else { next = min(end, now + record.lease / 8) }
    }

    private var retryDelay: Int64 { record.lease / 12 }

    /// The time of the next request; nil while one is under way, and after the end.
    var wake: Int64? { request == nil && loss == nil && next < .max ? next : nil }
}

/// Durations that follow from a lease, in milliseconds.
enum NodeTimes {
    /// The longest lease.
    static let leaseMax: Int64 = 60_000

    /// The time for which another node's record must be unchanged: 1.1 leases, for clocks that differ by a tenth.
    static func watch(of lease: Int64) -> Int64 { lease + (lease + 9) / 10 }
}
