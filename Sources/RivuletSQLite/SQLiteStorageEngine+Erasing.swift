// Part of Rivulet. See README.md for the architecture.
// What the engine says of the text of deleted sessions.

public import RivuletSessions

extension SQLiteStorageEngine: ErasingStorageEngine {
    /// The number of deleted sessions whose text is still in the files of the data folder.
    public var sessionsToEraseCount: Int { sharedErasure.pendingCount }

    /// Lines for the log of a start: deleted text that may be in the files, and what other users may read, each with its remedy.
    public var startNotices: [String] {
        guard !sharedErasure.isSecured else { return folderNotices }
        let vacuum =
            "the database in \(location) was made by an older version, so text that was deleted may still be in it: "
            + "stop the server and run \"rivulet vacuum --data \(location)\" once"
        return folderNotices + [vacuum]
    }

    /// Has a closure called, on a thread of the engine, with a line for the log when a deleted session cannot be erased.
    public func onErasingTrouble(_ report: @escaping @Sendable (String) -> Void) {
        sharedErasure.onTrouble(report)
    }
}
