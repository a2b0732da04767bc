internal import Dispatch
import Logging
import RivuletEngine
internal import Synchronization

/// Distinguishes a path that one session lacks from a path that no session has.
///
/// A path that no session has is an error of the migration step.
///
/// A path that no load has found is searched for once, in the app's stored sessions. Stored sessions of an earlier
/// schema only become fewer, so the answer is kept for the life of the process. One search of an app runs at a time, on
/// a thread of its own.
///
/// Sessions that cannot be read are skipped, because a path with a typo is missing from the readable sessions too. A
/// search that ends at its limit judges by the sessions that it has read. At most `pathsMax` verdicts are recorded. A
/// path beyond them is not judged, because an earlier session may have had it.
package final class MigrationSearch: Sendable {
    private enum Verdict {
        /// A session has the path, or a search ended at its limit and found no session that lacks the path.
        case accepted
        /// No session that was read has the path; `sessions` is the number of sessions that went through the step and
        /// lack it.
        case absent(sessions: Int)
    }

    /// The most paths that are recorded; a further path is treated like a found one.
    private static let pathsMax = 10_000
    /// The number of sessions that are listed at once.
    private static let pageSize = 1_000

    private let app: String
    private let look: @Sendable (SessionKey, StoredSession) -> MigrationFindings?
    private let verdicts = Mutex<[MigrationPath: Verdict]>([:])
    private let queue = DispatchQueue(label: "rivulet.migrations")

    /// Begins without verdicts.
    ///
    /// `look` takes a session's document through the steps of this build; it returns nil if the document cannot be
    /// read.
    init(app: String, look: @escaping @Sendable (SessionKey, StoredSession) -> MigrationFindings?) {
        self.app = app
        self.look = look
    }

    // MARK: - Judging

    /// Records the paths that a session has, and judges the paths that it lacks.
    ///
    /// `isStored` is true if the document is the session's newest one. An older version alone does not make a path an
    /// error.
    ///
    /// - Returns: The paths to search for before the session can be read.
    /// - Throws: `SessionError.unreadable`, with the first path that no session has.
    func judge(
        _ findings: MigrationFindings,
        of key: SessionKey,
        isStored: Bool
    ) throws(SessionError) -> Set<MigrationPath> {
        guard !findings.found.isEmpty || !findings.missing.isEmpty else { return [] }
        var unknown: Set<MigrationPath> = []
        var faults: [MigrationPath: String] = [:]
        verdicts.withLock { verdicts in
            for path in findings.found { Self.remember(.accepted, of: path, in: &verdicts) }
            for (path, beginnings) in findings.missing {
                switch verdicts[path] {
                case .accepted: break
                case .absent(let sessions):
                    guard isStored || sessions > 0 else { continue }
                    let looked = sessions > 1 ? "\(sessions) sessions" : "1 session"
                    faults[path] = path.fault(in: looked, beginnings: beginnings)
                case nil:
                    // A path for which there is no room may have been found earlier, so it is not judged.
                    guard verdicts.count + unknown.count < Self.pathsMax else { continue }
                    unknown.insert(path)
                }
            }
        }
        guard let fault = faults.min(by: { $0.key < $1.key })?.value else { return unknown }
        let remedy = "Correct the step, or say required: false where sessions may lack the path"
        throw .unreadable(key, detail: "\(fault). \(remedy)")
    }

    private static func remember(
        _ verdict: Verdict,
        of path: MigrationPath,
        in verdicts: inout [MigrationPath: Verdict]
    ) {
        guard verdicts[path] != nil || verdicts.count < pathsMax else { return }
        verdicts[path] = verdict
    }

    // MARK: - Searching

    /// Searches the stored sessions for the paths; the reply comes on a thread of its own.
    func search(
        for paths: Set<MigrationPath>,
        in storage: SessionStorage,
        sessionsMax: Int,
        logger: Logger,
        reply: @escaping StorageReply<Void>
    ) {
        queue.async { [self] in
            do throws(StorageError) {
                try search(for: paths, in: storage, sessionsMax, logger)
                reply(.success(()))
            } catch {
                // No path is recorded as absent: the next load searches again.
                reply(.failure(error))
            }
        }
    }

    private func search(
        for paths: Set<MigrationPath>,
        in storage: SessionStorage,
        _ sessionsMax: Int,
        _ logger: Logger
    ) throws(StorageError) {
        // An earlier search may have judged some of the paths.
        let sought = verdicts.withLock { verdicts in paths.filter { verdicts[$0] == nil } }
        var wanted = sought
        var lacking: [MigrationPath: Int] = [:]
        var (read, skipped, isComplete) = (0, 0, true)
        var last: String?
        sessions: while !wanted.isEmpty, let (ids, end) = try page(of: storage, after: last) {
            for id in ids {
                guard read < sessionsMax else {
                    isComplete = false
                    break sessions
                }
                read += 1
                guard let findings = try findings(in: SessionKey(app: app, id: id), of: storage) else {
                    skipped += 1
                    continue
                }
                let found = wanted.intersection(findings.found)
                verdicts.withLock { verdicts in
                    for path in found { Self.remember(.accepted, of: path, in: &verdicts) }
                }
                wanted.subtract(found)
                guard !wanted.isEmpty else { break sessions }
                for path in wanted where findings.missing[path] != nil { lacking[path, default: 0] += 1 }
            }
            last = end
        }
        verdicts.withLock { verdicts in
            // Meanwhile a load may have found a path in a session that was then stored in the new shape.
            for path in wanted where verdicts[path] == nil {
                let sessions = lacking[path] ?? 0
                Self.remember(
                    isComplete || sessions > 0 ? .absent(sessions: sessions) : .accepted,
                    of: path,
                    in: &verdicts
                )
            }
        }
        for path in sought.sorted() {
            let outcome = wanted.contains(path) ? isComplete ? "absent" : "limit" : "found"
            logger.info(
                "stored sessions were searched for a path that a migration step needs",
                metadata: [
                    "app": "\(app)", "step": "\(path.version)", "path": "\(path.path)", "outcome": "\(outcome)",
                    "lacking": "\(lacking[path] ?? 0)", "unreadable": "\(skipped)",
                ]
            )
        }
    }

    private func page(
        of storage: SessionStorage,
        after id: String?
    ) throws(StorageError) -> (ids: [String], end: String)? {
        let ids = try Self.wait { storage.directory.sessions(app: app, after: id, limit: Self.pageSize, reply: $0) }
            .map(\.id)
        return ids.last.map { (ids, $0) }
    }

    /// Returns the paths that the steps look for in a session; nil if the session cannot be read.
    ///
    /// The load of that session reports the error.
    private func findings(in key: SessionKey, of storage: SessionStorage) throws(StorageError) -> MigrationFindings? {
        do throws(StorageError) {
            guard let stored = try Self.wait({ storage.log.load(key, reply: $0) }) else { return MigrationFindings() }
            return look(key, stored)
        } catch {
            guard case .corrupt(_?, _) = error else { throw error }
            return nil
        }
    }

    /// Waits for storage's answer, which may come on another thread or on this thread.
    private static func wait<Value: Sendable>(
        _ ask: (@escaping StorageReply<Value>) -> Void
    ) throws(StorageError) -> Value {
        let answer = Answer<Value>()
        ask { answer.give($0) }
        return try answer.wait().get()
    }

    /// One answer, on its way from one thread to another.
    private final class Answer<Value: Sendable>: Sendable {
        private let result = Mutex<Result<Value, StorageError>>(.failure(.closed))
        private let isThere = DispatchSemaphore(value: 0)

        func give(_ result: Result<Value, StorageError>) {
            self.result.withLock { $0 = result }
            isThere.signal()
        }

        func wait() -> Result<Value, StorageError> {
            isThere.wait()
            return result.withLock { $0 }
        }
    }
}
