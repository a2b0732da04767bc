public import RivuletStores

/// Reads the sessions and items of a storage that another server may be using, and writes nothing.
///
/// Calls block, and are made one at a time. A concurrent write may be seen or not. Each session is read as it was at
/// one moment.
public protocol StorageInspection {
    /// The apps that have stored sessions, in the order of their names.
    func apps() throws(StorageError) -> [String]

    /// The ids of an app's sessions after an id, in the order of their bytes; at most `limit`.
    func sessions(app: String, after id: String?, limit: Int) throws(StorageError) -> [String]

    /// The newest snapshot and every later entry; nil if there is no such session.
    ///
    /// - Throws: `.corrupt` if a part of this session is damaged.
    func load(_ key: SessionKey) throws(StorageError) -> StoredSession?

    /// The items of a collection, in the order in which their keys were added; no items if there is no such collection.
    func items(of collection: String) throws(StorageError) -> StoredCollection
}
