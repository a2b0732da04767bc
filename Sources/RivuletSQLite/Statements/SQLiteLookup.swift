/// A lookup by an index that reads the table itself after a page of the index has failed.
///
/// After a failed page, SQLite rolls the transaction back. So the lookup fails, and the caller begins its transaction
/// again. Until the new transaction ends, the lookup reads the table: see `Detours`. Source:
/// <https://sqlite.org/lang_indexedby.html>
final class SQLiteLookup {
    /// The cost of reading the table.
    enum Table {
        /// The table has few pages; it is also read if SQLite does not report the failed page.
        case small
        /// The table has most of the database's pages; it is read only if a page of an index has failed its checksum.
        case large
    }

    private let byIndex: SQLiteStatement
    private var byTable: SQLiteStatement?
    fileprivate var avoidsIndex = false
    private let table: Table
    private let tableSQL: String
    private let connection: SQLiteConnection

    /// Makes a lookup with the same SQL for index and table; `sql` inserts its argument, empty or `NOT INDEXED`, after
    /// the table's name.
    convenience init(
        on connection: SQLiteConnection,
        _ table: Table = .small,
        sql: (_ how: String) -> String
    ) throws(SQLiteError) {
        try self.init(sql(""), byTable: sql(" NOT INDEXED"), table, on: connection)
    }

    /// Makes a lookup with another statement for the table.
    init(_ sql: String, byTable: String, _ table: Table, on connection: SQLiteConnection) throws(SQLiteError) {
        byIndex = try SQLiteStatement(sql, on: connection)
        tableSQL = byTable
        self.table = table
        self.connection = connection
    }

    /// Runs a closure with the statement, which is reset afterwards.
    func read<Value>(_ body: (SQLiteStatement) throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        let statement = try current()
        defer { statement.reset() }
        do throws(SQLiteError) {
            return try body(statement)
        } catch {
            if !avoidsIndex, error.isPageDamage, connection.mayBeOfIndex(error, of: table) {
                connection.detours.add(self)
            }
            throw error
        }
    }

    private func current() throws(SQLiteError) -> SQLiteStatement {
        guard avoidsIndex else { return byIndex }
        if let byTable { return byTable }
        let statement = try SQLiteStatement(tableSQL, on: connection)
        byTable = statement
        return statement
    }
}

/// The lookups of a connection that avoid their indexes in the current view or transaction.
final class Detours {
    private var lookups: [SQLiteLookup] = []
    private var hasNew = false

    fileprivate func add(_ lookup: SQLiteLookup) {
        lookup.avoidsIndex = true
        lookups.append(lookup)
        hasNew = true
    }

    /// Returns true if a lookup has failed and another attempt can succeed; each lookup is added only once.
    func takeNew() -> Bool {
        defer { hasNew = false }
        return hasNew
    }

    /// Ends the view or the transaction; the next one uses the indexes again.
    func end() {
        guard !lookups.isEmpty else { return }
        for lookup in lookups { lookup.avoidsIndex = false }
        lookups = []
        hasNew = false
    }
}

extension SQLiteConnection {
    /// Returns true if the failed page may be part of an index.
    ///
    /// The first byte of a page is its kind: 5 and 13 are tables, 2 and 10 are indexes. No single flipped bit turns a
    /// page of an index into a page of a table. Long rows continue in pages that mostly begin with 0. Source:
    /// <https://sqlite.org/fileformat2.html#b_tree_pages>
    fileprivate func mayBeOfIndex(_ error: SQLiteError, of table: SQLiteLookup.Table) -> Bool {
        let isKnown = error.isPageFault
        switch table {
        case .small: return !isKnown || ![5, 13].contains(failedPageKind)
        case .large: return isKnown && ![0, 5, 13].contains(failedPageKind)
        }
    }
}
