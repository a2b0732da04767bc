/// A storage engine whose deletions are answered before the bytes have left its files.
public protocol ErasingStorageEngine: StorageEngine {
    /// The number of deleted sessions whose text is still in the files; any thread may ask.
    var sessionsToEraseCount: Int { get }

    /// Warnings for the log of a start, each with its remedy: deleted text that may be in the files, and what other users may read.
    ///
    /// Right after `start()`.
    var startNotices: [String] { get }

    /// Has a closure called, on a thread of the engine, with a line for the log when a deleted session cannot be erased.
    ///
    /// It is set before `start()`, and must not block.
    func onErasingTrouble(_ report: @escaping @Sendable (String) -> Void)
}
