/// The reads of a session's past that wait for storage, and what of the past there is.
final class SessionPast {
    private let gate: ResumeGate
    private var underWay = 0

    init(_ environment: SessionEnvironment) {
        gate = environment.resumes
    }

    /// Whether no read waits for storage.
    var isQuiet: Bool { underWay == 0 }

    /// Begins a read; false: as many as may read logs do.
    func begin() -> Bool {
        guard gate.begin() else { return false }
        underWay += 1
        return true
    }

    func end() {
        underWay -= 1
        gate.end()
    }

    /// Why a version is not there.
    static func missing(_ version: UInt64, current: UInt64, retained: RetainedLog) -> SessionError {
        version <= current ? .versionGone(version, oldest: retained.from - 1) : .noVersion(version, current: current)
    }

    /// The first of the entries that are visible and fit one answer, at least one; the entries come after version `version`.
    static func page(
        of entries: [LogEntry],
        after version: UInt64,
        _ standing: SessionStanding,
        bytesMax: Int
    ) -> LogPage {
        var bytes = 0
        let shown = entries.prefix { $0.version <= standing.version }
        let fitting = shown.prefix { entry in
            bytes += entry.byteCount
            return bytes <= bytesMax
        }
        let page = shown.prefix(max(fitting.count, 1))
        let last = page.last?.version ?? version
        return LogPage(cursor: standing.cursor, entries: Array(page), hasMore: last < standing.version)
    }
}
