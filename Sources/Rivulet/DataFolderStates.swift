import FoundationEssentials
public import RivuletEngine
public import RivuletInProcess
import RivuletSQLite
import RivuletSessions
import RivuletStores
import Synchronization

/// Stores the persistent halves of in-process states in SQLite, in the folder `states` of the data folder.
///
/// A server locks only its own database, so a server in this process or in another one can use the same data folder.
/// All managers of a process share one lock and one file. The first manager that reads or writes opens the file, which
/// stays open until the process ends. A second process cannot open it meanwhile.
///
/// In a process that is the node of a cluster, the states are in the cluster's data instead, and only the node that has
/// the partition reads and writes them.
public struct DataFolderStates: StateStorage {
    private static let open = Mutex<[String: (engine: SQLiteStorageEngine, states: StoredStates)]>([:])

    private let folder: String

    /// Creates a storage below a data folder; nil means RIVULET_DATA, or `./data` if that is not set.
    public init(folder: String? = nil) {
        self.folder = ProcessFolder.path(folder)
    }

    /// Reads the document under a key.
    ///
    /// - Throws: `StorageError`; `ItemStorageError` in a cluster.
    public func load(_ key: String) async throws -> [UInt8]? {
        if let cluster = ClusterValues.current { return try await cluster.state(key) }
        return try await states().load(key)
    }

    /// Writes the document under a key.
    ///
    /// The document is on disk when this returns.
    ///
    /// - Throws: `StorageError`; `ItemStorageError` in a cluster.
    public func save(_ document: [UInt8], under key: String) async throws {
        if let cluster = ClusterValues.current { return try await cluster.setState(document, of: key) }
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
    /// Creates a manager with the defaults, and with the stored `p` if there is one.
    ///
    /// `p` is the stored half of the state. It is stored in SQLite, see ``DataFolderStates``.
    /// - Parameters:
    ///   - defaultState: Makes the state of a new session, and of a reset.
    ///   - persistenceKey: The key under which `p` is stored. If it is nil, nothing is stored, no file is opened, and
    ///     the state has its defaults after a restart.
    ///   - dispatchFilter: The filter, as for `setDispatchFilter`.
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
