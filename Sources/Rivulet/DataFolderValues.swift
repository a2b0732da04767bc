import Dispatch
import RivuletSQLite
import RivuletSessions
public import RivuletStores

/// Keeps stored values in SQLite, in the folder `values` of the data folder.
///
/// The folder is a server's neighbour, not its database: a server locks its own, for its process or another one, and both may run at
/// once. All values of a process share one lock and one file, which is opened by the first that is read or written, and stays open until
/// the process ends. A second process is refused.
public struct DataFolderValues: ItemStorage, Hashable {
    /// Opens the file, for requests must not wait for that, and keeps them in their order.
    private static let queue = DispatchQueue(label: "rivulet.values")

    private let folder: String

    /// Keeps values below this data folder; nil: below RIVULET_DATA, or `./data` where that is not set.
    public init(folder: String? = nil) {
        self.folder = ProcessFolder.path(folder)
    }

    /// Opens the file, where that is not done yet.
    ///
    /// - Throws: why it cannot be opened.
    public func open() throws(ItemStorageError) {
        _ = try engine()
    }

    /// Reads a whole collection.
    public func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        onceOpen(reply) { $0.items(of: collection, reply: reply) }
    }

    /// Makes changes in their order, all or none; on disk when it is answered.
    public func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
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

    /// The collection of values that are no secrets.
    var values: ItemCollection { collection("values") }

    /// The collection of values that are sealed.
    var secrets: ItemCollection { collection("secrets") }
}
