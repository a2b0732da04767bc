// Random operations of a cluster's log.

import RivuletBase
import RivuletCluster
import RivuletSessions
import RivuletStores
import SeededRandom

/// A source of operations over a few sessions and collections, of which most succeed.
struct RandomWrites {
    private var generator: SeededGenerator
    /// The present epoch and version of each session, as the outcomes show them.
    private var heads: [SessionKey: (epoch: String, version: UInt64)] = [:]
    private var epochs = 0
    /// True if idempotency records are dropped, and quotas refuse.
    private let hasLimits: Bool

    init(seed: UInt64, hasLimits: Bool) {
        generator = SeededGenerator(seed: seed)
        self.hasLimits = hasLimits
    }

    /// The next operation; `outcomes` is the hash over all outcomes so far.
    mutating func next(outcomes: UInt64) -> Operation {
        let key = SessionKey(app: pick(["counter", "notes"]), id: pick(["a", "b", "c", "d"]))
        switch number(0..<20) {
        case 0..<2:
            return .create(
                key,
                epoch: newEpoch(),
                time: time(),
                snapshot: maybe { $0.snapshot(0) },
                owner: owner(),
                quota: quota()
            )
        case 2..<10: return append(to: key)
        case 10..<13: return compact(key)
        case 13: return .delete(key)
        case 14..<18: return items()
        case 18: return .checkpoint(outcomes: outcomes)
        default:
            let claim = Claim(node: "n1", incarnation: 1, build: "b", schemas: [:])
            return Bool.random(using: &generator) ? .claim(claim) : .release(to: "")
        }
    }

    /// Learns from an outcome, so that later operations have current heads.
    mutating func learn(_ operation: Operation, _ outcome: OperationOutcome) {
        switch (operation, outcome) {
        case (.create(let key, _, _, _, _, _), .created(.created(let head))),
            (.append(let key, _, _, _, _), .appended(.committed(let head))):
            heads[key] = (head.epoch, head.version)
        case (.delete(let key), _): heads[key] = nil
        default: break
        }
    }

    private mutating func append(to key: SessionKey) -> Operation {
        let stale = number(0..<6) == 0
        guard let head = heads[key], number(0..<8) > 0 else {
            let point = OperationPoint.creating(
                epoch: newEpoch(),
                time: time(),
                snapshot: maybe { $0.snapshot(0) },
                owner: owner()
            )
            return .append(key, at: point, entries: entries(after: 0), answers: answers(), quota: quota())
        }
        let version = stale ? head.version &+ 1 : head.version
        return .append(
            key,
            at: .after(epoch: head.epoch, version: version),
            entries: entries(after: version),
            answers: answers(),
            quota: quota()
        )
    }

    private mutating func compact(_ key: SessionKey) -> Operation {
        let head = heads[key] ?? ("gone", 0)
        let version = head.version - min(head.version, UInt64(number(0..<3)))
        let keeping = LogKeeping(
            from: head.version - min(head.version, UInt64(number(0..<6))),
            since: number(0..<2) == 0 ? .min : time(),
            bytes: maybe { $0.number(0..<400) }
        )
        return .compact(key, epoch: head.epoch, version: version, snapshot: snapshot(version), keeping: keeping)
    }

    private mutating func items() -> Operation {
        let changes = (0..<number(1..<4)).map { _ -> ItemChange in
            let key = "key \(number(0..<9))"
            switch number(0..<12) {
            case 0: return .removeAll
            case 1..<4: return .remove(key: key)
            default: return .put(key: key, document: Array(repeating: 7, count: number(0..<60)))
            }
        }
        let itemsMax = hasLimits ? number(3..<9) : 1_000_000
        return .items(collection: pick(["todos", "drafts"]), changes: changes, time: time(), itemsMax: itemsMax)
    }

    private mutating func entries(after version: UInt64) -> [LogEntry] {
        (0..<UInt64(number(0..<4))).map { index in
            LogEntry(
                version: version + 1 + index,
                time: time(),
                commandID: maybe { "command \($0.number(0..<9))" },
                by: maybe { $0.pick(["ann", "bob"]) },
                event: Array(repeating: 1, count: number(1..<40)),
                changes: Array(repeating: 2, count: number(1..<40))
            )
        }
    }

    private mutating func answers() -> IdempotencyRecords {
        // Each new record drops at most 16 old ones, so many old records must gather before one drop.
        let drops = hasLimits && number(0..<4) == 0
        let records = (0..<(drops ? number(0..<2) : number(0..<12))).map { _ in
            IdempotencyRecord(
                id: "command \(number(0..<400))",
                time: time(),
                fingerprint: [UInt8(number(0..<9))],
                body: Array(repeating: 3, count: number(0..<20))
            )
        }
        return IdempotencyRecords(records, droppingBefore: drops ? time() : .min)
    }

    private mutating func snapshot(_ version: UInt64) -> StateSnapshot {
        // A large state is compressed in its row.
        let byteCount = number(0..<4) == 0 ? 6_000 : number(0..<100)
        return StateSnapshot(
            version: version,
            schema: UInt32(number(1..<4)),
            state: Array(repeating: UInt8(ascii: "s"), count: byteCount)
        )
    }

    private mutating func quota() -> StorageQuota {
        guard hasLimits, number(0..<2) == 0 else { return .none }
        return StorageQuota(
            sessionsMax: number(1..<5),
            bytesMax: number(1_000..<20_000),
            ownerSessionsMax: number(1..<3),
            ownerBytesMax: number(500..<9_000)
        )
    }

    private mutating func owner() -> String? { maybe { $0.pick(["ann", "bob"]) } }

    /// A time of few, so that many records have the same one.
    private mutating func time() -> Int64 { Int64(number(0..<8)) }

    private mutating func newEpoch() -> String {
        epochs += 1
        return "epoch\(epochs)"
    }

    private mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? {
        Bool.random(using: &generator) ? make(&self) : nil
    }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func pick(_ values: [String]) -> String { values[number(0..<values.count)] }
}
