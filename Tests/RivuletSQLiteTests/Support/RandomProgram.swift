// Random requests, the same for two engines.

import RivuletSessions
import SeededRandom
import StorageConformance

/// A random program over a few sessions.
///
/// Its answers have the epoch and the version of a head, but no token, because each engine has its own tokens.
struct RandomProgram {
    private var generator: SeededGenerator
    /// The heads of both engines that a caller may hold, including stale ones.
    private var heads: [(key: SessionKey, first: SessionHead, second: SessionHead)] = []

    /// The number of heads that a caller holds.
    ///
    /// It is small, so that most appends are committed.
    private static let headsHeld = 6

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// Sends the same request to both engines.
    ///
    /// Returns the request, and the answer of each.
    mutating func step(
        _ first: any StorageEngine,
        _ second: any StorageEngine
    ) async throws -> (step: String, first: String, second: String) {
        let key = TestData.key("\(UInt64.random(in: 0..<4, using: &generator))")
        let version = UInt64.random(in: 0..<25, using: &generator)
        switch UInt64.random(in: 0..<20, using: &generator) {
        case 0..<3: return try await create(key, first, second)
        case 3..<9: return try await append(first, second)
        case 9..<12: return try await compact(first, second, keepingFrom: version)
        case 12:
            let answers = try await (first.delete(key), second.delete(key))
            return ("delete \(key)", "\(answers.0)", "\(answers.1)")
        case 13..<15:
            let limit = Int.random(in: 1..<6, using: &generator)
            let answers = try await (
                first.history(key, epoch: TestData.epoch, after: version, limit: limit),
                second.history(key, epoch: TestData.epoch, after: version, limit: limit)
            )
            return ("history \(key) after \(version)", text(answers.0), text(answers.1))
        case 15..<17:
            let answers = try await (
                first.past(key, epoch: TestData.epoch, at: version),
                second.past(key, epoch: TestData.epoch, at: version)
            )
            return ("past \(key) at \(version)", text(answers.0), text(answers.1))
        case 17:
            let id = "command \(version % 5)"
            let answers = try await (
                first.idempotencyRecord(key, epoch: TestData.epoch, id: id),
                second.idempotencyRecord(key, epoch: TestData.epoch, id: id)
            )
            let usages = try await (
                first.idempotencyRecords(key, epoch: TestData.epoch, since: Int64(version)),
                second.idempotencyRecords(key, epoch: TestData.epoch, since: Int64(version))
            )
            return (
                "answer \(id) of \(key)", "\(answers.0, default: "-") \(usages.0)",
                "\(answers.1, default: "-") \(usages.1)"
            )
        case 18:
            let answers = try await (
                first.sessions(app: key.app, limit: 3), second.sessions(app: key.app, limit: 3)
            )
            return ("sessions", "\(answers.0)", "\(answers.1)")
        default:
            let answers = try await (first.load(key), second.load(key))
            return ("load \(key)", text(answers.0), text(answers.1))
        }
    }

    private mutating func create(
        _ key: SessionKey,
        _ first: any StorageEngine,
        _ second: any StorageEngine
    ) async throws -> (String, String, String) {
        let snapshot = Bool.random(using: &generator) ? TestData.snapshot(0, byteCount: 5_000) : nil
        let one = try await first.create(key, epoch: TestData.epoch, time: 5, snapshot: snapshot)
        let two = try await second.create(key, epoch: TestData.epoch, time: 5, snapshot: snapshot)
        switch (one, two) {
        case (.created(let head), .created(let other)), (.exists(let head), .exists(let other)):
            heads.append((key, head, other))
            return ("create \(key)", text(head), text(other))
        default:
            return ("create \(key)", "\(one)", "\(two)")
        }
    }

    private mutating func append(
        _ first: any StorageEngine,
        _ second: any StorageEngine
    ) async throws -> (String, String, String) {
        guard let (key, head, other) = heads.suffix(Self.headsHeld).randomElement(using: &generator) else {
            return ("none", "", "")
        }
        let count = UInt64.random(in: 0..<4, using: &generator)
        let entries = (0..<count).map { index in
            let version = head.version + 1 + index
            return LogEntry(
                version: version,
                time: Int64(version),
                commandID: version % 2 == 0 ? "command \(version % 5)" : nil,
                event: [1],
                changes: [2]
            )
        }
        let answers = (0..<UInt64.random(in: 0..<3, using: &generator)).map { index in
            let id = "command \(UInt64.random(in: 0..<5, using: &generator))"
            return IdempotencyRecord(
                id: id,
                time: Int64(head.version + index),
                fingerprint: [3],
                body: [UInt8(index), 4]
            )
        }
        let kept = IdempotencyRecords(answers, droppingBefore: .min)
        let one = try await first.append(key, at: .after(head), entries, keeping: kept)
        let two = try await second.append(key, at: .after(other), entries, keeping: kept)
        let texts = texts(one, two, of: key)
        return ("append \(count) to \(key) after \(head.version)", texts.0, texts.1)
    }

    private mutating func compact(
        _ first: any StorageEngine,
        _ second: any StorageEngine,
        keepingFrom: UInt64
    ) async throws -> (String, String, String) {
        guard let (key, head, other) = heads.suffix(Self.headsHeld).randomElement(using: &generator) else {
            return ("none", "", "")
        }
        let schema = UInt32.random(in: 1...3, using: &generator)
        let snapshot = TestData.snapshot(head.version, schema: schema, byteCount: 40 + Int(schema))
        // The time of an entry is its version.
        let since = Bool.random(using: &generator) ? Int64.random(in: 0..<25, using: &generator) : .min
        let one = try await first.compact(
            key,
            at: head,
            snapshot: snapshot,
            keepingFrom: keepingFrom,
            keepingSince: since
        )
        let two = try await second.compact(
            key,
            at: other,
            snapshot: snapshot,
            keepingFrom: keepingFrom,
            keepingSince: since
        )
        if case (.compacted(let head, _), .compacted(let other, _)) = (one, two) { heads.append((key, head, other)) }
        return ("compact \(key) at \(head.version) keeping \(keepingFrom), \(since)", text(one), text(two))
    }

    /// The texts of both outcomes.
    ///
    /// Records the heads if both are committed.
    private mutating func texts(_ one: AppendOutcome, _ two: AppendOutcome, of key: SessionKey) -> (String, String) {
        if case (.committed(let head), .committed(let other)) = (one, two) { heads.append((key, head, other)) }
        return (text(one), text(two))
    }

    private func text(_ outcome: CompactionOutcome) -> String {
        guard case .compacted(let head, let retained) = outcome else { return "conflict" }
        return "\(text(head)) \(retained)"
    }

    private func text(_ outcome: AppendOutcome) -> String {
        guard case .committed(let head) = outcome else { return "conflict" }
        return text(head)
    }

    private func text(_ head: SessionHead) -> String { "\(head.epoch) \(head.version)" }

    private func text(_ stored: StoredSession?) -> String {
        guard let stored else { return "none" }
        return "\(text(stored.head)) \(stored.created) \(stored.updated) \(stored.retained) "
            + "\(text(stored.snapshot)) \(text(stored.tail))"
    }

    private func text(_ past: StoredPast?) -> String {
        past.map { "\(text($0.snapshot)) \(text($0.entries))" } ?? "none"
    }

    private func text(_ snapshot: StateSnapshot?) -> String {
        snapshot.map { "snapshot \($0.version) of schema \($0.schema) and \($0.state.count) bytes" } ?? "default"
    }

    private func text(_ entries: [LogEntry]?) -> String { entries.map { "\($0.map { text($0) })" } ?? "none" }

    private func text(_ entry: LogEntry?) -> String {
        entry.map { "\($0.version) \($0.time) \($0.commandID ?? "-")" } ?? "none"
    }
}
