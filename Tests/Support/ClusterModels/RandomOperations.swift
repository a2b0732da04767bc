import RivuletBase
package import RivuletCluster
import RivuletSessions
import RivuletStores
package import SeededRandom

/// Makes operations from random numbers.
package struct RandomOperations {
    package var random: SeededGenerator

    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    // MARK: - Any values

    /// Makes an operation of any kind with any values, for tests of the codec.
    package mutating func any() -> Operation {
        switch number(13) {
        case 0:
            .create(key(), epoch: text(), time: time(), snapshot: snapshot(), owner: optionalText(), quota: quota())
        case 1:
            .append(
                key(),
                at: .after(epoch: text(), version: large()),
                entries: entries(),
                answers: records(),
                quota: quota()
            )
        case 2:
            .append(
                key(),
                at: .creating(epoch: text(), time: time(), snapshot: snapshot(), owner: optionalText()),
                entries: entries(),
                answers: records(),
                quota: quota()
            )
        case 3:
            .compact(
                key(),
                epoch: text(),
                version: large(),
                snapshot: anySnapshot(),
                keeping: LogKeeping(from: large(), since: time(), bytes: flip() ? nil : Int(time()))
            )
        case 4: .delete(key())
        case 5: .items(collection: text(), changes: changes(), time: time(), itemsMax: Int(time()))
        case 6: .claim(claim())
        case 7: .release(to: text())
        case 8: .checkpoint(outcomes: large())
        default: .base(base())
        }
    }

    /// Makes a part of a base with any values.
    package mutating func base() -> BaseOperation {
        switch number(5) {
        case 0: .session(key(), epoch: text(), created: time(), owner: optionalText())
        case 1: .snapshot(key(), anySnapshot(), time: time())
        case 2: .entries(key(), entries())
        case 3: .answer(key(), record())
        default: .items(collection: text(), (0..<number(4)).map { _ in item() })
        }
    }

    /// Makes a frame of any operations.
    package mutating func frame() -> Frame {
        var frame = Frame(
            cluster: text(),
            partition: Partition(rawValue: UInt16(truncatingIfNeeded: large())),
            previous: FrameLink(number: large() >> 1, term: large(), hash: FrameHash(high: large(), low: large())),
            term: large(),
            nonce: large(),
            operations: []
        )
        if number(8) == 0 {
            let bytes = [1] + bytes()
            let offset = number(100)
            frame.part = OperationPart(total: offset + bytes.count + number(2) * 10, offset: offset, bytes: bytes)
        } else {
            frame.operations = (0..<number(5)).map { _ in any() }
        }
        return frame
    }

    // MARK: - Histories

    /// Makes an operation that could follow in the history of `content`: mostly with the heads that are there.
    package mutating func next(in content: ModelContent) -> Operation {
        let key = SessionKey(app: flip() ? "notes" : "votes", id: "s\(number(6))")
        let head = content.head(of: key)
        let quota = flip() ? .none : StorageQuota(sessionsMax: 3 + number(4), ownerBytesMax: 200 + number(400))
        let (epoch, stale) = ("epoch\(number(3))", number(8) == 0)
        let version = stale ? UInt64(number(9)) : head?.version ?? 0
        switch number(14) {
        case 0:
            return .create(key, epoch: epoch, time: now(), snapshot: state(at: 0), owner: owner(), quota: quota)
        case 1:
            let point = OperationPoint.creating(epoch: epoch, time: now(), snapshot: state(at: 0), owner: owner())
            return .append(key, at: point, entries: follow(0), answers: answers(), quota: quota)
        case 2...7:
            let point = OperationPoint.after(epoch: stale ? epoch : head?.epoch ?? epoch, version: version)
            return .append(key, at: point, entries: follow(version), answers: answers(), quota: quota)
        case 8, 9:
            let at = flip() ? version : version / 2
            let snapshot = state(at: at) ?? StateSnapshot(version: at, schema: 1, state: [UInt8(number(256))])
            let keeping = LogKeeping(
                from: UInt64(number(12)),
                since: flip() ? .min : now(),
                bytes: flip() ? nil : number(300)
            )
            return .compact(key, epoch: head?.epoch ?? epoch, version: at, snapshot: snapshot, keeping: keeping)
        case 10: return number(3) == 0 ? .delete(key) : .checkpoint(outcomes: 0)
        default:
            let name = ["a", "é", "e\u{301}"][number(3)]
            return .items(collection: name, changes: itemChanges(), time: now(), itemsMax: 6)
        }
    }

    private mutating func follow(_ version: UInt64) -> [LogEntry] {
        (0..<UInt64(number(4))).map { offset in
            LogEntry(
                version: version + 1 + offset + (number(30) == 0 ? 1 : 0),
                time: now(),
                commandID: flip() ? nil : "c\(number(9))",
                by: owner(),
                event: bytes(),
                changes: bytes()
            )
        }
    }

    private mutating func answers() -> IdempotencyRecords {
        let answers = (0..<number(3)).map { _ in
            IdempotencyRecord(id: "r\(number(9))", time: now(), fingerprint: bytes(), body: bytes())
        }
        return IdempotencyRecords(answers, droppingBefore: flip() ? .min : now())
    }

    private mutating func state(at version: UInt64) -> StateSnapshot? {
        flip() ? nil : StateSnapshot(version: version, schema: UInt32(1 + number(3)), state: bytes())
    }

    private mutating func owner() -> String? { ["ann", "bob", nil][number(3)] }

    private mutating func now() -> Int64 { Int64(1_000 + number(100)) }

    private mutating func itemChanges() -> [ItemChange] {
        (0..<number(5)).map { _ in
            let key = ["a", "b", "c", "d", "e", "f", "g", "é", "e\u{301}"][number(9)]
            return switch number(8) {
            case 0: .removeAll
            case 1, 2: .remove(key: key)
            default: .put(key: key, document: bytes())
            }
        }
    }

    // MARK: - Values

    /// A number below `limit`.
    package mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private mutating func flip() -> Bool { Bool.random(using: &random) }

    /// Numbers of every length.
    private mutating func large() -> UInt64 { random.next() >> UInt64(number(65)) }

    private mutating func time() -> Int64 {
        switch number(6) {
        case 0: .min
        case 1: .max
        default: flip() ? Int64(bitPattern: large()) : ~Int64(bitPattern: large())
        }
    }

    private mutating func text() -> String {
        let texts = ["", "a", "counter", "é", "e\u{301}", "a\u{0}b", "🙂", String(repeating: "x", count: 200)]
        return texts[number(texts.count)] + (flip() ? "" : "\(number(1_000))")
    }

    private mutating func optionalText() -> String? { flip() ? nil : text() }

    private mutating func bytes() -> [UInt8] {
        (0..<number(number(10) == 0 ? 300 : 20)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private mutating func key() -> SessionKey { SessionKey(app: text(), id: text()) }

    private mutating func anySnapshot() -> StateSnapshot {
        StateSnapshot(version: large(), schema: UInt32(truncatingIfNeeded: large()), state: bytes())
    }

    private mutating func snapshot() -> StateSnapshot? { flip() ? nil : anySnapshot() }

    private mutating func entries() -> [LogEntry] {
        (0..<number(4)).map { _ in
            LogEntry(
                version: large(),
                time: time(),
                commandID: optionalText(),
                by: optionalText(),
                event: bytes(),
                changes: bytes()
            )
        }
    }

    private mutating func record() -> IdempotencyRecord {
        IdempotencyRecord(id: text(), time: time(), fingerprint: bytes(), body: bytes())
    }

    private mutating func records() -> IdempotencyRecords {
        IdempotencyRecords((0..<number(3)).map { _ in record() }, droppingBefore: time())
    }

    private mutating func quota() -> StorageQuota {
        StorageQuota(
            sessionsMax: flip() ? nil : Int(time()),
            bytesMax: flip() ? nil : Int(time()),
            ownerSessionsMax: flip() ? nil : number(100),
            ownerBytesMax: flip() ? nil : number(100)
        )
    }

    private mutating func changes() -> [ItemChange] {
        (0..<number(4)).map { _ in
            switch number(3) {
            case 0: .put(key: text(), document: bytes())
            case 1: .remove(key: text())
            default: .removeAll
            }
        }
    }

    private mutating func item() -> StoredItem {
        StoredItem(key: text(), document: bytes(), created: time(), updated: time())
    }

    private mutating func claim() -> Claim {
        let schemas = (0..<number(4)).map { ("app\($0)", UInt32(truncatingIfNeeded: large())) }
        return Claim(
            node: text(),
            incarnation: large(),
            build: text(),
            schemas: Dictionary(schemas) { $1 }
        )
    }
}
