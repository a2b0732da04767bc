// The storage contract as checks that every engine must pass.

package import RivuletSessions
import Testing

/// One rule of the storage contract, with its check on a started, empty engine.
///
/// Configure the engine to keep at most a few MiB of entries, because some checks fill its limits.
package struct StorageConformance: Sendable, CustomTestStringConvertible {
    /// The rule as a sentence.
    package let testDescription: String
    private let body: @Sendable (any StorageEngine) async throws -> Void

    init(_ sentence: String, _ body: @escaping @Sendable (any StorageEngine) async throws -> Void) {
        testDescription = sentence
        self.body = body
    }

    /// Every rule.
    package static let all = creations + appends + reads + answers + compactions + schemas + closings

    /// Checks the rule.
    package func check(_ engine: any StorageEngine) async throws {
        try await body(engine)
    }
}

/// The sample data of the checks.
enum Sample {
    static let key = SessionKey(app: "counter", id: "one")
    static let epoch = "k3v9x0qa"
    static let created: Int64 = 1_700_000_000_000

    /// The entry of one version.
    ///
    /// It differs from the entry of any other version.
    static func entry(_ version: UInt64, commandID: String? = nil) -> LogEntry {
        LogEntry(
            version: version,
            time: created + Int64(version) * 1_000,
            commandID: commandID,
            event: Array(#"{"setCount":\#(version)}"#.utf8),
            changes: Array(#"[{"op":"replace","path":"/count","value":\#(version)}]"#.utf8)
        )
    }

    static func entries(_ versions: ClosedRange<UInt64>) -> [LogEntry] { versions.map { entry($0) } }

    static func snapshot(_ version: UInt64, schema: UInt32 = 7) -> StateSnapshot {
        let state = #"{"count":\#(version),"schema":\#(schema)}"#
        return StateSnapshot(version: version, schema: schema, state: Array(state.utf8))
    }

    /// An idempotency record under an id, some seconds after the session's creation.
    static func answer(_ id: String, seconds: Int64 = 0) -> IdempotencyRecord {
        let body = Array("the answer to \(id) after \(seconds)".utf8)
        return IdempotencyRecord(
            id: id,
            time: created + seconds * 1_000,
            fingerprint: Array(id.utf8.reversed()),
            body: body
        )
    }

    static func kept(_ answers: IdempotencyRecord..., droppingBefore time: Int64 = .min) -> IdempotencyRecords {
        IdempotencyRecords(answers, droppingBefore: time)
    }

    /// Incompressible bytes.
    static func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        }
    }
}

extension StorageEngine {
    /// Creates the sample session with entries up to a version, and returns its head.
    func fill(_ key: SessionKey = Sample.key, upTo version: UInt64) async throws -> SessionHead {
        let point = AppendPoint.creating(epoch: Sample.epoch, time: Sample.created)
        return try await append(key, at: point, version == 0 ? [] : Sample.entries(1...version)).head()
    }
}

extension AppendOutcome {
    /// Returns the head of a commit.
    ///
    /// A conflict fails the test.
    func head() throws -> SessionHead {
        guard case .committed(let head) = self else { throw UnexpectedConflict() }
        return head
    }
}

struct UnexpectedConflict: Error {}
