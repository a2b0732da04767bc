/// The damage that SQLite's integrity check finds in the structure of a database.
///
/// Source: <https://sqlite.org/pragma.html#pragma_integrity_check>
struct StructureCheck {
    /// The lines about indexes, which can be rebuilt from the rows.
    private(set) var indexes: [String] = []
    /// The lines about tables, or about pages of unknown use.
    private(set) var tables: [String] = []
    /// The rows of the table `session` that are missing from its index.
    private(set) var unindexedSessions: [Int64] = []

    /// The maximum number of lines.
    static let linesMax = 100

    /// Reads the whole database, which takes time.
    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        let check = try SQLiteStatement("PRAGMA integrity_check(\(Self.linesMax))", on: connection)
        var found: [String] = []
        do throws(SQLiteError) {
            while try check.step() { found += check.text(0).split(separator: "\n").map(String.init) }
        } catch {
            // A page that fails its checksum ends the check.
            guard error.isPageDamage, case .failed(_, _, let message, _) = error else { throw error }
            found.append(message)
        }
        for line in found where line != "ok" && !line.hasPrefix("***") {
            add(line, isIndexPage: try Self.namesIndexPage(line, connection))
        }
    }

    var lines: [String] { tables + indexes }

    private mutating func add(_ line: String, isIndexPage: Bool) {
        let words = line.split(separator: " ")
        let isOfIndex = ["in index ", "from index "].contains { line.contains($0) }
        // Damage to free pages or to the pointer map affects no rows, and a rebuilt file has no such damage.
        let isOfFreePages = ["reelist", "ptr map"].contains { line.contains($0) }
        if isOfIndex || isIndexPage || isOfFreePages { indexes.append(line) } else { tables.append(line) }
        if line.hasPrefix("row "), line.hasSuffix(" sqlite_autoindex_session_1"), words.count > 1,
            let row = Int64(words[1])
        {
            unindexedSessions.append(row)
        }
    }

    /// Returns true if a line names a page by number and the page is part of an index.
    private static func namesIndexPage(_ line: String, _ connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        let words = line.split(whereSeparator: { $0 == " " || $0 == ":" })
        guard let index = words.firstIndex(where: { $0.lowercased() == "page" }), index + 1 < words.count,
            let page = Int64(words[index + 1])
        else { return false }
        guard let root = try PointerMap(of: connection.path).root(of: page) else { return false }
        // The log's index is a table, which a rebuild also makes from the rows.
        let isIndex = "rootpage = \(root) AND (type = 'index' OR name = 'log_index')"
        return try connection.integer("SELECT 1 FROM sqlite_schema WHERE \(isIndex)") == 1
    }
}
