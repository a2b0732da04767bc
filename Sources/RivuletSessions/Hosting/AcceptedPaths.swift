import RivuletJSON
import Synchronization

/// A cache of key paths that a schema accepts.
///
/// A search in a schema takes about ten microseconds, because the schema is made while it is searched.
final class AcceptedPaths: Sendable {
    private struct Path: Hashable {
        let view: String?
        let pointer: JSONPointer
        let wildcards: Bool
    }

    /// The most paths in the cache; a full cache is emptied before the next path is added.
    ///
    /// The limit is needed because a path may have any element id that a client chooses.
    private static let pathsMax = 4_096

    private let known = Mutex<Set<Path>>([])

    /// Returns true if the schema accepts the path; `look` is called if the path is not in the cache.
    func contains(_ pointer: JSONPointer, view: String?, wildcards: Bool, _ look: () -> Bool) -> Bool {
        let path = Path(view: view, pointer: pointer, wildcards: wildcards)
        if known.withLock({ $0.contains(path) }) { return true }
        guard look() else { return false }
        known.withLock { known in
            if known.count >= Self.pathsMax { known.removeAll() }
            known.insert(path)
        }
        return true
    }
}
