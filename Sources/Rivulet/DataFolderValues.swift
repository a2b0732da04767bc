import Dispatch
import RivuletSQLite
import RivuletSessions
public import RivuletStores

/// Stores values in SQLite, in the folder `values` of the data folder.
///
/// A server locks only its own database, so a server in this process or in another one can use the same data folder.
/// All values of a process share one lock and one file. The first value that is read or written opens the file, which
/// stays open until the process ends. A second process cannot open it meanwhile.
///
/// In a process that is the node of a cluster, the values are in the cluster's data instead, and only the node that has
/// the partition reads and writes them.
public struct DataFolderValues: ItemStorage, Hashable {
    /// The queue that opens the file and keeps the order of the requests.
    ///
    /// The callers of requests must not wait for the opening.
    private static let queue = DispatchQueue(label: "rivulet.values")

    private let folder: String

    /// Creates a storage below a data folder; nil means RIVULET_DATA, or `./data` if that is not set.
    public init(folder: String? = nil) {
        self.folder = ProcessFolder.path(folder)
    }

    /// Opens the file if it is not open yet.
    ///
    /// - Throws: The reason that the file cannot be opened.
    public func open() throws(ItemStorageError) {
        if let cluster = ClusterValues.current { return try cluster.open() }
        _ = try engine()
    }

    /// Reads a whole collection.
    public func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        if let cluster = ClusterValues.current { return cluster.items(of: collection, reply: reply) }
        onceOpen(reply) { $0.items(of: collection, reply: reply) }
    }

    /// Makes changes in order, all or none.
    ///
    /// The changes are on disk when the reply is called.
    public func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        if let cluster = ClusterValues.current { return cluster.commit(changes, to: collection, reply: reply) }
        onceOpen(reply) { $0.commit(changes, to: collection, reply: reply) }
    }

    private func onceOpen<Value>(
        _ reply: @escaping ItemStorageReply<Value>,
        _ request: @escaping @Sendable (SQLiteStorageEngine) -> Void
    ) {
        Self.queue.async {
            do throws(ItemStorageError) {
                request(try engine())
            } catch {
                reply(.failure(error))
            }
        }
    }

    private func engine() throws(ItemStorageError) -> SQLiteStorageEngine {
        do throws(StorageError) {
            return try SQLiteStorageEngine.default(appendingPath: "values", dataFolder: folder)
        } catch {
            throw ItemStorageError(error)
        }
    }

    /// The collection of values that are not secrets.
    var values: ItemCollection { collection("values") }

    /// The collection of sealed values.
    var secrets: ItemCollection { collection("secrets") }
}
