// The stored family's contract on the same database: one writer, and so one commit, for sessions and stores.

internal import RivuletSessions
public import RivuletStores

extension SQLiteStorageEngine: ItemStorage {
    /// Starts the engine, where that is not done yet.
    ///
    /// - Throws: as ``start()``, in the words of items.
    public func open() throws(ItemStorageError) {
        do throws(StorageError) {
            try start()
        } catch {
            throw ItemStorageError(error)
        }
    }

    /// Reads a whole collection; waits for `start()`.
    public func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        let name = ItemKey(collection)
        read(nil, waits: true, { reply($0.mapError(ItemStorageError.init)) }) {
            [sharedKeys] reader throws(SQLiteError) in
            // Whoever reads a collection mostly writes to it next.
            let term = sharedKeys.term(ofReading: name)
            let (contents, keys) = try reader.items(of: collection, withKeys: term != nil)
            if let term, let keys { sharedKeys.add(keys, of: name, in: term) }
            return contents
        }
    }

    /// Makes changes in their order, all or none; on disk when it is answered.
    ///
    /// Waits for `start()`.
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
            in: ItemKey(collection),
            byteCount: bytes,
            waits: true,
            { reply($0.mapError(ItemStorageError.init).flatMap { $0 }) }
        ) {
            statements throws(SQLiteError) in
            try statements.items.commit(changes, to: collection, time: time)
        }
    }
}

extension SQLiteStorageEngine {
    /// How often the writing thread had to read the keys of a collection by itself, and everybody to wait for it.
    package var keyReadsByWriter: Int { sharedKeys.writerReads }
}

extension ItemChange {
    fileprivate var byteCounts: (key: Int, document: Int) {
        switch self {
        case .put(let key, let document): (key.utf8.count, document.count)
        case .remove(let key): (key.utf8.count, 0)
        case .removeAll: (0, 0)
        }
    }
}
