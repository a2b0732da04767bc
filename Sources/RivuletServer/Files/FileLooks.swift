/// What is known of a folder's files from one look at it to the next.
///
/// A file is due when two looks in a row show the same stamp, and it is not the one that was dealt with: a file that is still being written is
/// left alone. A file is gone when two looks in a row do not show it: many programs save by removing and making anew.
struct FileLooks: Sendable {
    /// What one look finds to be done.
    struct Work: Equatable {
        /// Paths of files to read, in the order of their names.
        var due: [String] = []
        /// Paths of files to serve no more.
        var gone: [String] = []

        var isEmpty: Bool { due.isEmpty && gone.isEmpty }
    }

    /// The stamps under which files were dealt with, taken or refused.
    private var settled: [String: FileStamp]
    private var last: [String: FileStamp]

    /// All files were taken as they are.
    init(taken: [String: FileStamp]) {
        settled = taken
        last = taken
    }

    /// Whether everything was dealt with as it was at the look before and still is: until a stamp changes, looks find no work.
    func isAtRest(_ stamps: [String: FileStamp]) -> Bool { stamps == last && stamps == settled }

    /// Compares with the look before.
    mutating func look(_ stamps: [String: FileStamp]) -> Work {
        defer { last = stamps }
        var work = Work()
        for (path, stamp) in stamps where settled[path] != stamp && last[path] == stamp { work.due.append(path) }
        for path in settled.keys where stamps[path] == nil && last[path] == nil { work.gone.append(path) }
        work.due.sort()
        work.gone.sort()
        for path in work.gone { settled[path] = nil }
        return work
    }

    /// The file was taken, or refused until it changes.
    mutating func settle(_ path: String, _ stamp: FileStamp) { settled[path] = stamp }

    /// A file that was refused is looked at again: there is room for it.
    mutating func forget(_ path: String) { settled[path] = nil }
}
