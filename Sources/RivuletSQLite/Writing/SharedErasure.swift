internal import RivuletSessions
internal import Synchronization

/// The state of erasing, which the writing thread keeps up to date.
final class SharedErasure: Sendable {
    private struct State {
        var isSecured = true
        var pendingCount = 0
        var onTrouble: (@Sendable (String) -> Void)?
    }

    private let state = Mutex(State())

    /// The number of deleted sessions whose text is still in the files.
    var pendingCount: Int { state.withLock { $0.pendingCount } }

    /// Whether the text of a deleted session leaves the files of this database.
    var isSecured: Bool { state.withLock { $0.isSecured } }

    func didOpen(isSecured: Bool, pendingCount: Int) {
        state.withLock { ($0.isSecured, $0.pendingCount) = (isSecured, pendingCount) }
    }

    func setPending(_ count: Int) {
        state.withLock { $0.pendingCount = count }
    }

    func onTrouble(_ report: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.onTrouble = report }
    }

    func report(_ trouble: String) {
        state.withLock { $0.onTrouble }?(trouble)
    }
}
