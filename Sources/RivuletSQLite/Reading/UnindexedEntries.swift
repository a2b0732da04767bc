/// The rows of the entries that were added after the last update of the log's index.
///
/// Rows are numbered in the order of their arrival, and no number is used twice while a server runs. A session's
/// versions ascend with the rows.
struct UnindexedEntries {
    /// An entry's version, and its row in the log.
    struct Location {
        let version: Int64
        let row: Int64
    }

    /// The last indexed row.
    private(set) var indexedTo: Int64
    /// The last row that is known, in the index or here.
    private(set) var last: Int64
    private var bySID: [Int64: [Location]] = [:]

    init(indexedTo: Int64) {
        self.indexedTo = indexedTo
        last = indexedTo
    }

    /// The number of rows that were added since the last update of the index, including dropped ones.
    var rowCount: Int { Int(last - indexedTo) }

    /// Returns a session's entries, ordered by version.
    func locations(of sid: Int64) -> [Location] {
        bySID[sid] ?? []
    }

    /// Visits all entries, in no order.
    func forEach(_ visit: (_ location: Location, _ sid: Int64) -> Void) {
        for (sid, locations) in bySID {
            for location in locations { visit(location, sid) }
        }
    }

    mutating func add(_ location: Location, of sid: Int64) {
        bySID[sid, default: []].append(location)
        last = max(last, location.row)
    }

    /// Replaces all known entries of a session.
    mutating func replace(_ locations: [Location], of sid: Int64) {
        bySID[sid] = locations.isEmpty ? nil : locations
    }

    /// Updates the state after the entries up to a row were indexed.
    mutating func index(to row: Int64) {
        guard row > indexedTo else { return }
        indexedTo = row
        guard row < last else {
            last = row
            return bySID.removeAll()
        }
        for (sid, locations) in bySID { replace(locations.filter { $0.row > row }, of: sid) }
    }
}
