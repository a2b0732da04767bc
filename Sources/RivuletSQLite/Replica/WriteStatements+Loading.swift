// The load of a base into a replica, inside a transaction that the caller owns.

import RivuletBase
internal import RivuletCluster
internal import RivuletSessions
internal import RivuletStores

/// Returns the operations of a base batch by batch; nil at the end.
typealias BaseBatches = () throws(StorageError) -> [BaseOperation]?

extension WriteStatements {
    /// Replaces the whole content by that of a base.
    ///
    /// One transaction has all of it, so a crash leaves the old content. SQLite keeps changed pages in memory up to its
    /// cache's size, and writes the others to the write-ahead log. The old sessions lose their names here, and are
    /// erased later in steps.
    mutating func load(_ target: ReplicaPosition, _ batches: BaseBatches) throws(SQLiteError) {
        let cluster = try position().cluster
        guard cluster.isEmpty || cluster == target.cluster else {
            let detail = "the base is of the cluster \"\(target.cluster)\", and this copy of \"\(cluster)\""
            throw .refused(.incompatible(detail: detail))
        }
        guard let connection = replica?.connection else { return }
        try log.refresh()
        try clear(connection)
        var session: LoadingSession?
        var itemLoader = try ItemLoader(connection)
        while let operations = try Self.next(of: batches) {
            for operation in operations { try load(operation, &session, &itemLoader) }
        }
        try finish(&session)
        try log.index()
        try replica?.set(target)
    }

    private static func next(of batches: BaseBatches) throws(SQLiteError) -> [BaseOperation]? {
        do throws(StorageError) {
            return try batches()
        } catch {
            // Damage of the base is no damage of this copy.
            guard case .corrupt(_, let detail) = error else { throw .refused(error) }
            throw .refused(.unavailable(detail: "the base cannot be read: \(detail)"))
        }
    }

    private mutating func clear(_ connection: SQLiteConnection) throws(SQLiteError) {
        removes = true
        forgetHeads()
        replica?.forget()
        try erasing.addAll(on: connection)
        for table in ["usage", "item", "collection"] { try connection.execute("DELETE FROM \(table)") }
        items.willReplaceAll()
    }

    private mutating func load(
        _ operation: BaseOperation,
        _ session: inout LoadingSession?,
        _ itemLoader: inout ItemLoader
    ) throws(SQLiteError) {
        switch operation {
        case .session(let key, let epoch, let created, let owner):
            try finish(&session)
            let row = SessionRow(sid: try nextSID(), key: key, epoch: epoch, created: created, owner: owner)
            try write(row)
            session = LoadingSession(sid: row.sid, key: key, owner: owner)
        case .snapshot(let key, let snapshot, let time):
            let sid = try Self.sid(of: key, session)
            try replace(with: SnapshotRow(snapshot, sid: sid, time: time))
            session?.growth.bytes += snapshot.state.count
        case .entries(let key, let entries):
            let sid = try Self.sid(of: key, session)
            guard let first = entries.first else { return }
            guard entries.all(followFrom: session?.version ?? first.version &- 1) else { throw Self.disorder(key) }
            for entry in entries {
                try log.append(entry, sid: sid)
                session?.growth.bytes += entry.byteCount
            }
            session?.version = entries.last?.version
            // The rows that the index lacks are in memory.
            if log.unindexedRowCount >= Self.unindexedRowsMax { try log.index() }
        case .answer(let key, let answer): try write(answer, sid: try Self.sid(of: key, session))
        case .items(let collection, let loaded):
            try finish(&session)
            try itemLoader.load(loaded, into: collection, items)
        }
    }

    private static var unindexedRowsMax: Int { 4_096 }

    /// Adds a loaded session to the counters.
    private func finish(_ session: inout LoadingSession?) throws(SQLiteError) {
        guard let loaded = session else { return }
        try counters?.count(loaded.growth, sid: loaded.sid, app: loaded.key.app, owner: loaded.owner)
        session = nil
    }

    private static func sid(of key: SessionKey, _ session: LoadingSession?) throws(SQLiteError) -> Int64 {
        guard let session, session.key == key else { throw disorder(key) }
        return session.sid
    }

    private static func disorder(_ key: SessionKey) -> SQLiteError {
        let detail = "the parts of the session \(key) are not in their order in the base: make a new base"
        return .refused(.incompatible(detail: detail))
    }
}

/// The session of a base that is loaded now.
private struct LoadingSession {
    let sid: Int64
    let key: SessionKey
    let owner: String?
    var growth = SessionCounters.Growth(sessions: 1)
    /// The version of the last loaded entry.
    var version: UInt64?

    init(sid: Int64, key: SessionKey, owner: String?) { (self.sid, self.key, self.owner) = (sid, key, owner) }
}

/// Writes the items of a base.
private struct ItemLoader {
    private let insertion: SQLiteStatement
    private let lastRow: SQLiteStatement
    private let finder: CollectionFinder
    /// The collection of the last items, and the place of its next one.
    private var current: (name: ByteText, nextRowID: Int64)?

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        insertion = try SQLiteStatement(ItemRow.insertion, on: connection)
        lastRow = try SQLiteStatement("SELECT max(place) FROM item WHERE place >= ? AND place < ?", on: connection)
        finder = try CollectionFinder(connection)
    }

    mutating func load(
        _ items: [StoredItem],
        into name: String,
        _ statements: ItemStatements
    ) throws(SQLiteError) {
        guard !items.isEmpty else { return }
        var rowID = try nextRowID(of: name, statements)
        for item in items {
            try unsafe item.key.utf8.span.bytes.withUnsafeBytes { (key) throws(SQLiteError) in
                try unsafe item.document.span.bytes.withUnsafeBytes { (document) throws(SQLiteError) in
                    try unsafe ItemRow.write(
                        key,
                        document,
                        created: item.created,
                        updated: item.updated,
                        at: rowID,
                        by: insertion
                    )
                }
            }
            rowID += 1
        }
        current = (ByteText(name), rowID)
    }

    private func nextRowID(of name: String, _ statements: ItemStatements) throws(SQLiteError) -> Int64 {
        if let current, current.name == ByteText(name) { return current.nextRowID }
        guard let number = try finder.number(of: name) else {
            return ItemRow.rowIDs(of: try statements.insert(name)).lowerBound
        }
        defer { lastRow.reset() }
        let rowIDs = ItemRow.rowIDs(of: number)
        try lastRow.bind(rowIDs.lowerBound, at: 1)
        try lastRow.bind(rowIDs.upperBound, at: 2)
        try lastRow.step()
        return lastRow.isNull(0) ? rowIDs.lowerBound : lastRow.integer(0) + 1
    }
}
