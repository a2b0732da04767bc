/// The record of a folder's files from one scan to the next.
///
/// A file is due if two scans in a row show the same stamp and the file was not yet handled under this stamp. So a file
/// that is still being written is left alone. A file is gone if two scans in a row do not show it. One scan is not
/// enough, because many programs save a file by removing it and making it anew.
struct FileLooks: Sendable {
    /// The work that one scan finds.
    struct Work: Equatable {
        /// Paths of files to read, in the order of their names.
        var due: [String] = []
        /// Paths of files that are no longer served.
        var gone: [String] = []

        var isEmpty: Bool { due.isEmpty && gone.isEmpty }
    }

    /// The stamps under which files were handled, that is, taken or refused.
    private var settled: [String: FileStamp]
    private var last: [String: FileStamp]

    /// Begins with all files taken under these stamps.
    init(taken: [String: FileStamp]) {
        settled = taken
        last = taken
    }

    /// True if all files have the stamps of the last scan and were handled under them.
    ///
    /// Until a stamp changes, scans find no work.
    func isAtRest(_ stamps: [String: FileStamp]) -> Bool { stamps == last && stamps == settled }

    /// Compares the stamps with those of the last scan.
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

    /// Records that the file was taken, or refused until it changes.
    mutating func settle(_ path: String, _ stamp: FileStamp) { settled[path] = stamp }

    /// Makes a refused file due again, because there is room for it now.
    mutating func forget(_ path: String) { settled[path] = nil }
}
