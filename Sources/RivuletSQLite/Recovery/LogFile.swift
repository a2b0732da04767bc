internal import Glibc
internal import RivuletSessions

/// The write-ahead log of a database that no connection has open.
struct LogFile {
    let path: String
    let databasePath: String

    /// The maximum number of bytes of a log that are read at once, unless a frame is larger.
    private static let pieceBytes = 1 << 20
    /// The number of bytes at the start of a database that include its page size and its number of reserved bytes.
    private static let databaseHeaderBytes = 21

    init(of databasePath: String, path: String? = nil) {
        self.databasePath = databasePath
        self.path = path ?? databasePath + "-wal"
    }

    /// Walks the log; nil if there is no log, or only a part of its header.
    func walk() throws(StorageError) -> LogWalk? {
        guard let file = try ReadFile(path) else { return nil }
        let header = try file.bytes(LogHeader.byteCount, at: 0)
        guard header.count == LogHeader.byteCount else { return nil }
        let pageBytes = try databaseLayout().pageBytes
        var walk = unsafe LogWalk(header: header.span.bytes, databasePageBytes: pageBytes)
        var piece = [UInt8](repeating: 0, count: max(1, Self.pieceBytes / walk.frameBytes) * walk.frameBytes)
        var offset = LogHeader.byteCount
        while case let count = try file.fill(&piece, at: offset), count > 0 {
            unsafe walk.add(piece.span.extracting(0..<count).bytes)
            offset += count
        }
        return walk
    }

    /// Writes the log to the disk, if it exists.
    func synchronize() throws(StorageError) { try ReadFile(path)?.synchronize() }

    /// Truncates the log, durably.
    func cut(to byteCount: Int) throws(StorageError) {
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw DataFolder.failure("cannot open \(path)", errno) }
        defer { _ = close(descriptor) }
        guard ftruncate(descriptor, off_t(byteCount)) == 0, fsync(descriptor) == 0 else {
            throw DataFolder.failure("cannot cut \(path)", errno)
        }
    }

    /// Returns true if another process has the database open, and so may read the log.
    ///
    /// Every connection has a shared lock on byte 128 of the shared-memory file. Source:
    /// <https://sqlite.org/walformat.html#wal_locks>
    func isInUse() -> Bool {
        let descriptor = unsafe open(databasePath + "-shm", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 128
        lock.l_len = 1
        return unsafe fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Returns the page size of the database, and the number of reserved bytes at the end of each page, which SQLite
    /// does not use.
    ///
    /// Source: <https://sqlite.org/fileformat2.html#the_database_header>
    func databaseLayout() throws(StorageError) -> (pageBytes: Int, reservedBytes: Int) {
        let header = try ReadFile(databasePath)?.bytes(Self.databaseHeaderBytes, at: 0) ?? []
        guard header.count == Self.databaseHeaderBytes else { return (SQLiteSchema.pageBytes, 0) }
        let size = Int(header[16]) << 8 | Int(header[17])
        let pageBytes = size == 1 ? 65_536 : size
        return (LogHeader.isPageSize(pageBytes) ? pageBytes : SQLiteSchema.pageBytes, Int(header[20]))
    }
}

/// A file that is read at offsets.
final class ReadFile {
    private let descriptor: Int32
    private let path: String

    /// Opens a file; nil if the file does not exist.
    init?(_ path: String) throws(StorageError) {
        self.path = path
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw DataFolder.failure("cannot open \(path)", errno) }
    }

    deinit {
        if descriptor >= 0 { _ = close(descriptor) }
    }

    /// Returns the bytes at an offset, or fewer if the file ends there.
    func bytes(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let filled = try fill(&bytes, at: offset)
        return filled == count ? bytes : Array(bytes[..<filled])
    }

    /// Writes the file to the disk.
    ///
    /// `fdatasync` covers the writes of every descriptor of the file. Source:
    /// <https://pubs.opengroup.org/onlinepubs/9699919799/functions/fdatasync.html>
    func synchronize() throws(StorageError) {
        guard fdatasync(descriptor) == 0 else { throw DataFolder.failure("cannot sync \(path)", errno) }
    }

    func fill(_ bytes: inout [UInt8], at offset: Int) throws(StorageError) -> Int {
        try BackupFile.fill(&bytes, from: descriptor, at: offset, path)
    }
}
