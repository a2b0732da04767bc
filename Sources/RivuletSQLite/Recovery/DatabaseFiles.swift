internal import Glibc

/// The files of an open database, used to detect that a file was removed or replaced while the server runs.
///
/// The connection continues to use the file that it has open, so its commits would reach no file that a restart finds.
/// Source: <https://sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use>
struct DatabaseFiles {
    private let database: OpenFile
    private let log: OpenFile
    private var nextLookAtLog = ContinuousClock.now

    /// The longest time between two checks of the write-ahead log.
    private static let logLookInterval = Duration.seconds(1)

    /// Remembers the files that the paths name now.
    init(of databasePath: String) {
        database = OpenFile(databasePath)
        log = OpenFile(databasePath + "-wal")
    }

    /// Checks the database on every call, and the log once a second; returns a path that now names another file, or
    /// nil.
    mutating func findReplaced() -> String? {
        if !database.isInPlace { return database.path }
        guard ContinuousClock.now >= nextLookAtLog else { return nil }
        nextLookAtLog = .now + Self.logLookInterval
        return log.isInPlace ? nil : log.path
    }
}

private struct OpenFile {
    let path: String
    /// The path in the form that the kernel takes, because every commit checks it.
    private let kernelPath: ContiguousArray<CChar>
    private let device: dev_t
    private let number: ino_t

    init(_ path: String) {
        self.path = path
        kernelPath = path.utf8CString
        (device, number) = Self.identity(of: kernelPath)
    }

    /// True if the path names the same file as before.
    var isInPlace: Bool { Self.identity(of: kernelPath) == (device, number) }

    /// The device and the inode number of a file; zeros if the file does not exist.
    private static func identity(of path: ContiguousArray<CChar>) -> (dev_t, ino_t) {
        var status = stat()
        let result = unsafe path.withUnsafeBufferPointer { path in
            guard let start = path.baseAddress else { return Int32(-1) }
            return unsafe stat(start, &status)
        }
        return result == 0 ? (status.st_dev, status.st_ino) : (0, 0)
    }
}
