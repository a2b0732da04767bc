internal import RivuletSessions
internal import Synchronization

/// The state of erasing, which the writer thread updates.
final class SharedErasure: Sendable {
    private struct State {
        var isSecured = true
        var pendingCount = 0
        var onTrouble: (@Sendable (String) -> Void)?
    }

    private let state = Mutex(State())

    /// The number of deleted sessions that still have text in the files.
    var pendingCount: Int { state.withLock { $0.pendingCount } }

    /// True if the text of deleted sessions is erased from the files of this database.
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
