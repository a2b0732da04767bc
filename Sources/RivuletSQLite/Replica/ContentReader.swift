import RivuletBase
internal import RivuletCluster
internal import RivuletSessions
internal import RivuletStores

/// The logical content of a database, read in one view, in an order that equal contents share.
///
/// It has a connection of its own, so that neither the writer nor the reader waits. The write-ahead log grows during a
/// read, because SQLite does not restart a log that a connection reads.
struct ContentReader {
    private let connection: SQLiteConnection
    private let finder: SessionFinder
    private let sessions: SQLiteStatement
    private let snapshots: SQLiteStatement
    private let answers: SQLiteStatement
    private let collections: SQLiteStatement
    private let items: SQLiteStatement
    private let isCancelled: @Sendable () -> Bool

    /// The bytes that are counted for an entry or an item besides its content.
    private static let overheadBytes = 64

    /// Opens a database; a read fails with `.closed` when `isCancelled` returns true.
    init(path: String, limits: SQLiteStorageLimits, isCancelled: @escaping @Sendable () -> Bool) throws(SQLiteError) {
        self.isCancelled = isCancelled
        let wait = limits.lockWaitMilliseconds
        connection = try SQLiteConnection(path: path, access: .readOnly, lockWaitMilliseconds: wait)
        try SQLiteSchema.prepareReader(connection)
        let layout = try SQLiteSchema.readableLayout(of: connection)
        guard layout == SQLiteSchema.version else {
            let detail = "\(path) has layout \(layout): start the server once, which brings it up to date"
            throw .refused(.incompatible(detail: detail))
        }
        finder = try SessionFinder(connection, layout: layout)
        sessions = try SQLiteStatement("SELECT sid FROM session ORDER BY app, id", on: connection)
        let columns = SnapshotRow.columns
        snapshots = try SQLiteStatement(
            """
            SELECT \(columns) FROM snapshot WHERE sid = ?1 UNION ALL SELECT \(columns) FROM older_snapshot
                WHERE sid = ?1 ORDER BY v, schema
            """,
            on: connection
        )
        answers = try SQLiteStatement(
            "SELECT \(AnswerRow.columns) FROM answer WHERE sid = ? ORDER BY id",
            on: connection
        )
        collections = try SQLiteStatement("SELECT name FROM collection ORDER BY name", on: connection)
        items = try SQLiteStatement(
            "SELECT \(ItemRow.columns) FROM item WHERE place >= ? AND place < ? ORDER BY place",
            on: connection
        )
    }

    /// Passes the whole content to a closure; returns its position.
    ///
    /// The operations with several entries or items have at most `partBytesMax` bytes, or one entry or item.
    func read(
        partBytesMax: Int,
        _ visit: (BaseOperation) throws(SQLiteError) -> Void
    ) throws(SQLiteError) -> ReplicaPosition {
        try connection.execute("BEGIN")
        do throws(SQLiteError) {
            let position = try ReplicaRow.position(of: .first, in: connection)
            finder.log.forget()
            try finder.log.refresh()
            try readSessions(partBytesMax, visit)
            try readItems(partBytesMax, visit)
            try connection.execute("COMMIT")
            return position
        } catch {
            // The first error is more informative.
            do throws(SQLiteError) { if connection.isInTransaction { try connection.execute("COMMIT") } } catch {}
            throw error
        }
    }

    // MARK: - Sessions

    private func readSessions(
        _ partBytesMax: Int,
        _ visit: (BaseOperation) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        defer { sessions.reset() }
        while try sessions.step() {
            let sid = sessions.integer(0)
            guard let row = try finder.session(sid: sid) else { continue }
            try pass(.session(row.key, epoch: row.epoch, created: row.created, owner: row.owner), to: visit)
            try readSnapshots(of: row, visit)
            try readEntries(of: row, partBytesMax, visit)
            try readAnswers(of: row, visit)
        }
    }

    private func readSnapshots(
        of session: SessionRow,
        _ visit: (BaseOperation) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        defer { snapshots.reset() }
        try snapshots.bind(session.sid, at: 1)
        while try snapshots.step() {
            let row = try SnapshotRow(in: snapshots, path: connection.path)
            guard let snapshot = row.snapshot else {
                throw .damaged(detail: "a snapshot of \(session.key) cannot be unpacked", path: connection.path)
            }
            try pass(.snapshot(session.key, snapshot, time: row.time), to: visit)
        }
    }

    private func readEntries(
        of session: SessionRow,
        _ partBytesMax: Int,
        _ visit: (BaseOperation) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        guard let (first, last) = try finder.log.versions(sid: session.sid) else { return }
        var part = Part<LogEntry>(bytesMax: partBytesMax)
        var version = first
        try finder.log.read(sid: session.sid, after: first - 1, upTo: last) { (entry) throws(SQLiteError) in
            guard Int64(clamping: entry.version) == version else { return false }
            version += 1
            if let full = part.add(entry, byteCount: entry.byteCount + Self.overheadBytes) {
                try pass(.entries(session.key, full), to: visit)
            }
            return true
        }
        guard version == last + 1 else {
            let detail = "log entries of \(session.key) from version \(version) on are missing"
            throw .damaged(detail: detail, path: connection.path)
        }
        if !part.elements.isEmpty { try pass(.entries(session.key, part.elements), to: visit) }
    }

    private func readAnswers(
        of session: SessionRow,
        _ visit: (BaseOperation) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        defer { answers.reset() }
        try answers.bind(session.sid, at: 1)
        while try answers.step() {
            let answer = try AnswerRow.answer(in: answers, path: connection.path)
            try pass(.answer(session.key, answer), to: visit)
        }
    }

    // MARK: - Items

    private func readItems(
        _ partBytesMax: Int,
        _ visit: (BaseOperation) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let finder = try CollectionFinder(connection)
        defer { collections.reset() }
        while try collections.step() {
            let name = collections.text(0)
            guard let number = try finder.number(of: name) else { continue }
            try readItems(of: name, number, partBytesMax, visit)
        }
    }

    private func readItems(
        of collection: String,
        _ number: Int64,
        _ partBytesMax: Int,
        _ visit: (BaseOperation) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        defer { items.reset() }
        let rowIDs = ItemRow.rowIDs(of: number)
        try items.bind(rowIDs.lowerBound, at: 1)
        try items.bind(rowIDs.upperBound, at: 2)
        var part = Part<StoredItem>(bytesMax: partBytesMax)
        var keys: StoredKeys.Gathering?
        while try items.step() {
            var contents = StoredCollection()
            ItemRow.read(items, into: &contents, &keys)
            for damaged in contents.damaged { throw .damaged(detail: damaged.detail, path: connection.path) }
            for item in contents.items {
                let byteCount = item.key.utf8.count + item.document.count + Self.overheadBytes
                if let full = part.add(item, byteCount: byteCount) {
                    try pass(.items(collection: collection, full), to: visit)
                }
            }
        }
        if !part.elements.isEmpty { try pass(.items(collection: collection, part.elements), to: visit) }
    }

    private func pass(
        _ operation: BaseOperation,
        to visit: (BaseOperation) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        guard !isCancelled() else { throw .refused(.closed) }
        try visit(operation)
    }
}

/// Elements that are gathered up to a number of bytes.
private struct Part<Element> {
    let bytesMax: Int
    private(set) var elements: [Element] = []
    private var byteCount = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Adds an element; returns the earlier ones if there is no room beside them.
    mutating func add(_ element: Element, byteCount added: Int) -> [Element]? {
        guard byteCount + added > bytesMax, !elements.isEmpty else {
            elements.append(element)
            byteCount += added
            return nil
        }
        defer { (elements, byteCount) = ([element], added) }
        return elements
    }
}
