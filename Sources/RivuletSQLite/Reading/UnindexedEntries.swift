/// Where the entries are that came after the log's index was last brought up to date.
///
/// Rows are counted as they come, and no number is given twice while a server runs; a session's versions ascend with them.
struct UnindexedEntries {
    /// An entry's version, and its row in the log.
    struct Place {
        let version: Int64
        let row: Int64
    }

    /// The row up to which the index goes.
    private(set) var indexedTo: Int64
    /// The row up to which all is known, in the index or here.
    private(set) var last: Int64
    private var bySID: [Int64: [Place]] = [:]

    init(indexedTo: Int64) {
        self.indexedTo = indexedTo
        last = indexedTo
    }

    /// The rows that were counted since the index was brought up to date, also those that are gone again.
    var rowCount: Int { Int(last - indexedTo) }

    /// A session's entries, by their versions.
    func places(of sid: Int64) -> [Place] {
        bySID[sid] ?? []
    }

    mutating func add(_ place: Place, of sid: Int64) {
        bySID[sid, default: []].append(place)
        last = max(last, place.row)
    }

    /// Knows these of a session's entries, and no others.
    mutating func replace(_ places: [Place], of sid: Int64) {
        bySID[sid] = places.isEmpty ? nil : places
    }

    /// The index has been brought up to date, as far as a row.
    mutating func index(to row: Int64) {
        guard row > indexedTo else { return }
        indexedTo = row
        guard row < last else {
            last = row
            return bySID.removeAll()
        }
        for (sid, places) in bySID { replace(places.filter { $0.row > row }, of: sid) }
    }
}
