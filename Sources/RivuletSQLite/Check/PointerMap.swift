internal import RivuletSessions

/// The map from pages to their parent pages in a database file, which SQLite writes for databases with `auto_vacuum`.
///
/// Source: <https://sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages>
struct PointerMap {
    private let path: String

    private static let entryBytes: Int64 = 5
    private static let rootKind: UInt8 = 1
    /// The kinds of pages with a parent: overflow pages, and pages of a tree that are not its root.
    private static let childKinds: ClosedRange<UInt8> = 3...5
    /// The maximum number of steps to a root.
    ///
    /// A page far down a long chain of overflow pages needs more steps, so its root is not found.
    private static let stepsMax = 1_000

    init(of databasePath: String) {
        path = databasePath
    }

    /// Returns the root of the tree that a page belongs to; nil if no root is found, or if the root is page 1.
    func root(of page: Int64) throws(SQLiteError) -> Int64? {
        do throws(StorageError) {
            guard let file = try ReadFile(path) else { return nil }
            let layout = try LogFile(of: path).databaseLayout()
            var page = page
            for _ in 0..<Self.stepsMax where page > 2 {
                let entriesPerPage = Int64(layout.pageBytes - layout.reservedBytes) / Self.entryBytes
                let map = (page - 2) / (entriesPerPage + 1) * (entriesPerPage + 1) + 2
                let offset = (map - 1) * Int64(layout.pageBytes) + Self.entryBytes * (page - map - 1)
                guard page != map else { return nil }
                let entry = try file.bytes(Int(Self.entryBytes), at: Int(offset))
                guard let kind = entry.first, entry.count == Int(Self.entryBytes) else { return nil }
                if kind == Self.rootKind { return page }
                guard Self.childKinds.contains(kind) else { return nil }
                page = entry.dropFirst().reduce(0) { $0 << 8 | Int64($1) }
            }
            return nil
        } catch {
            throw .refused(error)
        }
    }
}
