// The data that the tests of this module store.

import RivuletSessions
import StorageConformance

enum TestData {
    static let epoch = "k3v9x0qa"
    static let creating = AppendPoint.creating(epoch: epoch, time: 1)

    static func key(_ id: String = "one") -> SessionKey { SessionKey(app: "counter", id: id) }

    static func entry(_ version: UInt64, byteCount: Int = 40, by: String? = nil) -> LogEntry {
        LogEntry(
            version: version,
            time: Int64(version),
            commandID: nil,
            by: by,
            event: Array("\"increment\"".utf8),
            changes: (0..<byteCount).map { UInt8(truncatingIfNeeded: UInt64($0) &* version) }
        )
    }

    /// The time at which a test fails instead of hanging.
    ///
    /// A busy machine may need minutes for work of milliseconds.
    static var deadline: ContinuousClock.Instant { .now + .seconds(300) }

    static func entries(_ versions: ClosedRange<UInt64>) -> [LogEntry] { versions.map { entry($0) } }

    static func snapshot(_ version: UInt64, schema: UInt32 = 1, byteCount: Int = 40) -> StateSnapshot {
        StateSnapshot(version: version, schema: schema, state: Array(repeating: UInt8(ascii: "s"), count: byteCount))
    }
}

extension StorageEngine {
    /// Creates a session with entries up to a version, and returns its head.
    func fill(_ id: String = "one", upTo version: UInt64, byteCount: Int = 40) async throws -> SessionHead {
        let entries = version == 0 ? [] : (1...version).map { TestData.entry($0, byteCount: byteCount) }
        return try await append(TestData.key(id), at: TestData.creating, entries).head()
    }
}

extension AppendOutcome {
    func head() throws -> SessionHead {
        guard case .committed(let head) = self else { throw UnexpectedConflict() }
        return head
    }
}

struct UnexpectedConflict: Error {}
