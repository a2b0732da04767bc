// Stores and values share the sessions' database and its writer, so one commit can have changes of both.

import RivuletBase
internal import RivuletSessions
public import RivuletStores

extension SQLiteStorageEngine: ItemStorage {
    /// Starts the engine, unless it is running.
    ///
    /// - Throws: The errors of ``start()``, as an `ItemStorageError`.
    public func open() throws(ItemStorageError) {
        do throws(StorageError) {
            try start()
        } catch {
            throw ItemStorageError(error)
        }
    }

    /// Reads a whole collection.
    ///
    /// A call before ``start()`` waits for the start.
    public func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        let name = ByteText(collection)
        read(nil, waits: true, { reply($0.mapError(ItemStorageError.init)) }) {
            [sharedKeys] reader throws(SQLiteError) in
            // A write to the collection usually follows, and the writer needs the collection's keys.
            let term = sharedKeys.term(ofReading: name)
            let (contents, keys) = try reader.items(of: collection, withKeys: term != nil)
            if let term, let keys { sharedKeys.add(keys, of: name, in: term) }
            return contents
        }
    }

    /// Applies the changes in order, all or none.
    ///
    /// The changes are on disk before the reply.
    ///
    /// A call before ``start()`` waits for the start.
    public func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        var bytes = 0
        var (largestKey, largestDocument) = (collection.utf8.count, 0)
        for change in changes {
            let (key, document) = change.byteCounts
            bytes += key + document
            largestKey = max(largestKey, key)
            largestDocument = max(largestDocument, document)
        }
        guard largestKey <= limits.keyBytesMax else {
            return reply(.failure(.tooLarge(limitBytes: limits.keyBytesMax)))
        }
        guard largestDocument <= limits.documentBytesMax else {
            return reply(.failure(.tooLarge(limitBytes: limits.documentBytesMax)))
        }
        let time = clock()
        submit(
            nil,
            in: ByteText(collection),
            byteCount: bytes,
            purpose: changes.allSatisfy(\.isRemoval) ? .removal : .change,
            waits: true,
            { reply($0.mapError(ItemStorageError.init).flatMap { $0 }) }
        ) {
            statements throws(SQLiteError) in
            try statements.items.commit(changes, to: collection, time: time)
        }
    }
}

extension SQLiteStorageEngine {
    /// The number of times that the writer thread had to read the keys of a collection itself, while all other writes
    /// waited.
    package var keyReadsByWriter: Int { sharedKeys.writerReads }
}

extension ItemChange {
    fileprivate var isRemoval: Bool {
        switch self {
        case .put: false
        case .remove, .removeAll: true
        }
    }

    fileprivate var byteCounts: (key: Int, document: Int) {
        switch self {
        case .put(let key, let document): (key.utf8.count, document.count)
        case .remove(let key): (key.utf8.count, 0)
        case .removeAll: (0, 0)
        }
    }
}
