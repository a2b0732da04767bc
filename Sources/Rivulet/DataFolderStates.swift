import FoundationEssentials
public import RivuletEngine
public import RivuletInProcess
import RivuletSQLite
import RivuletSessions
import RivuletStores
import Synchronization

/// Keeps the stored halves of in-process states in SQLite, in the folder `states` of the data folder.
///
/// The folder is a server's neighbour, not its database: a server locks its own, for its process or another one, and both may run at
/// once. All managers of a process share one lock and one file, which is opened by the first that reads or writes, and stays open until
/// the process ends. A second process is refused.
public struct DataFolderStates: StateStorage {
    private static let open = Mutex<[String: (engine: SQLiteStorageEngine, states: StoredStates)]>([:])

    private let folder: String

    /// Keeps states below this data folder; nil: below RIVULET_DATA, or `./data` where that is not set.
    public init(folder: String? = nil) {
        self.folder = ProcessFolder.path(folder)
    }

    /// Reads the document under a key.
    ///
    /// - Throws: `StorageError`.
    public func load(_ key: String) async throws -> [UInt8]? {
        try await states().load(key)
    }

    /// Writes the document under a key; on disk when this returns.
    ///
    /// - Throws: `StorageError`.
    public func save(_ document: [UInt8], under key: String) async throws {
        try await states().save(document, under: key)
    }

    private func states() throws -> StoredStates {
        try Self.open.withLock { open in
            let engine = try SQLiteStorageEngine.default(appendingPath: "states", dataFolder: folder)
            if let known = open[folder], known.engine === engine { return known.states }
            let states = StoredStates(engine: engine, time: WallClock.milliseconds)
            open[folder] = (engine, states)
            return states
        }
    }
}

extension UIStateManager {
    /// Starts with the defaults, with the stored `p` over them if there is one; `p` is kept in SQLite, see ``DataFolderStates``.
    ///
    /// - Parameters:
    ///   - defaultState: Makes the state of a beginning; also of a reset.
    ///   - persistenceKey: Under which `p` is stored; nil: nothing is, no file is opened, and a restart gives the defaults.
    ///   - dispatchFilter: As `setDispatchFilter` sets it.
    public init(
        defaultState: @escaping @Sendable () -> State,
        persistenceKey: String? = nil,
        dispatchFilter: DispatchFilter? = nil
    ) async {
        await self.init(
            defaultState: defaultState,
            persistenceKey: persistenceKey,
            storage: DataFolderStates(),
            dispatchFilter: dispatchFilter
        )
    }
}
