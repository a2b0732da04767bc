import RivuletJSON
import Synchronization

/// Remembers key paths that were looked up in a schema: going through one takes some ten microseconds, as it is made while it is walked.
final class AcceptedPaths: Sendable {
    private struct Path: Hashable {
        let view: String?
        let pointer: JSONPointer
        let wildcards: Bool
    }

    /// The most paths; when there is one more, all are forgotten.
    ///
    /// Clients name elements by any id.
    private static let pathsMax = 4_096

    private let known = Mutex<Set<Path>>([])

    /// Whether the path is one; `look` says so the first time.
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
