internal import Glibc
internal import RivuletSessions

/// A data folder that is locked for this process until the instance is released.
final class DataFolder: Sendable {
    /// The database file in the folder.
    let databasePath: String

    /// Lines for the log about files that other users may read.
    let notices: [String]

    private let lockDescriptor: Int32

    /// The name of a server's database file.
    static let serverFilename = "rivulet.db"
    /// The name of the lock of a server's database.
    static let serverLockName = "rivulet.lock"
    /// The suffix of a database that a program has named.
    static let namedSuffix = ".sqlite3"
    /// The subfolders of a data folder that hold the databases of values and in-process states.
    static let subfolders: Set = ["values", "states"]
    /// The suffixes of a database and of the files beside it.
    static let databaseSuffixes = ["", "-wal", "-shm", "-journal", ".lock", DiskReserve.suffix] + vacuumSuffixes
    /// The suffixes of the copy that a vacuum writes, and of the files beside the copy.
    private static let vacuumSuffixes = [".vacuum", ".vacuum-journal", ".vacuum-wal", ".vacuum-shm"]

    /// Creates the folder if it does not exist, and takes the lock of this database.
    init(path: String, filename: String = serverFilename) throws(StorageError) {
        let folder = path.isEmpty ? "." : path
        databasePath = Self.databasePath(in: folder, filename: filename)
        try Self.refuseCopy(in: folder)
        if let parent = Self.dataFolder(ofSubfolder: folder) { try Self.refuseCopy(in: parent) }
        try Self.makeFolder(folder)
        lockDescriptor = try Self.takeLock(at: Self.lockPath(of: databasePath))
        notices = DataFolderModes.tighten(folder, filename: filename)
        try Self.refuseLogAlone(of: databasePath)
        try Self.makeFile(databasePath)
        try Self.removeVacuum(of: databasePath)
    }

    /// Refuses a write-ahead log without its database, because the log would be lost beside a new, empty database.
    private static func refuseLogAlone(of databasePath: String) throws(StorageError) {
        let log = databasePath + "-wal"
        let hasDatabase = DataFolderModes.mode(of: databasePath) != nil
        guard DataFolderModes.mode(of: log) != nil, DataFolderFiles.byteCount(of: databasePath) == 0,
            !hasDatabase || DataFolderFiles.byteCount(of: log) > 0
        else { return }
        throw .unavailable(
            detail:
                "the write-ahead log \(log) exists, but its database \(databasePath) is \(hasDatabase ? "empty" : "missing"); "
                + "nothing was changed. Put the database back, or restore a backup into another folder. To start without data, move the "
                + "log away"
        )
    }

    /// The name of the folder in which a restore or a backup writes files before it moves them to their final paths.
    static let partialName = "rivulet.partial"

    /// Returns the path of the file that a vacuum writes before the file replaces the database.
    static func vacuumPath(of databasePath: String) -> String { databasePath + ".vacuum" }

    /// Removes the files of a vacuum that did not finish.
    static func removeVacuum(of databasePath: String) throws(StorageError) {
        for suffix in vacuumSuffixes { try remove(databasePath + suffix) }
    }

    /// Returns the path of the database file in a folder.
    static func databasePath(in folder: String, filename: String = serverFilename) -> String {
        (folder.isEmpty ? "." : folder) + "/" + filename
    }

    deinit {
        // The lock file stays, because removing it would let two servers lock different files. The lock is released
        // before the descriptor is closed. A child process has a copy of the descriptor until it runs its program, and
        // this copy would keep the lock.
        _ = flock(lockDescriptor, LOCK_UN)
        _ = Glibc.close(lockDescriptor)
    }

    /// The maximum number of bytes that are read from the lock file, which holds a process number.
    private static let lockTextBytesMax = 32

    /// Returns the path of the lock of a database.
    static func lockPath(of databasePath: String) -> String {
        let folder = databasePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
            separator: "/"
        )
        return databasePath == folder + "/" + serverFilename ? folder + "/" + serverLockName : databasePath + ".lock"
    }

    /// Creates an empty database file that only its owner can read.
    ///
    /// An existing file stays as it is.
    static func makeFile(_ path: String) throws(StorageError) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return }
            throw failure("cannot make the file \(path)", errno)
        }
        let isTightened = fchmod(descriptor, 0o600) == 0
        let code = errno
        _ = Glibc.close(descriptor)
        guard isTightened else { throw failure("cannot make the file \(path)", code) }
    }

    /// Removes a file if it exists.
    static func remove(_ path: String) throws(StorageError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("cannot remove \(path)", errno) }
    }

    /// Refuses a folder that is a backup, or that has an unfinished restore or backup.
    static func refuseCopy(in folder: String) throws(StorageError) {
        try refuseUnfinishedRestore(in: folder)
        try refuseBackup(in: folder)
    }

    /// Returns the parent of a folder with the name of a data folder's subfolder, such as `values`; nil if the folder
    /// has another name.
    private static func dataFolder(ofSubfolder path: String) -> String? {
        guard let name = path.split(separator: "/").last, subfolders.contains(String(name)) else { return nil }
        let parent = path[..<name.startIndex]
        return parent.isEmpty ? "." : parent == "/" ? "/" : String(parent.dropLast())
    }

    private static func refuseUnfinishedRestore(in folder: String) throws(StorageError) {
        let path = folder + "/" + partialName
        guard unsafe access(path, F_OK) == 0 else { return }
        throw .unavailable(
            detail: "\(path) is from an unfinished backup or restore, so the folder is incomplete: "
                + "empty \(folder) and start again"
        )
    }

    /// Refuses a backup: a server or a vacuum would change the files, and the backup could not be verified or restored
    /// any more.
    private static func refuseBackup(in folder: String) throws(StorageError) {
        let path = folder + "/" + BackupManifest.name
        guard unsafe access(path, F_OK) == 0 else { return }
        throw .unavailable(
            detail:
                "\(folder) is a backup, and was left as it is: restore it into another folder with `rivulet backup restore`, or remove "
                + "\(path) to make it a data folder"
        )
    }

    static func makeFolder(_ path: String) throws(StorageError) {
        var prefix = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            let parent = prefix.isEmpty ? "." : prefix
            prefix += prefix.isEmpty || prefix.hasSuffix("/") ? part : "/" + part
            if unsafe mkdir(prefix, 0o700) == 0 {
                // Sets the bits that the umask cleared.
                guard unsafe chmod(prefix, 0o700) == 0 else {
                    throw failure("cannot make the data folder \(prefix)", errno)
                }
                // A new name is durable only after its parent folder is synced.
                try synchronizeFolder(parent)
            } else if errno != EEXIST {
                throw failure("cannot make the data folder \(prefix)", errno)
            }
        }
        try withFolder(path) { _ in }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
            throw failure("cannot write in the data folder \(path)", errno)
        }
    }

    static func synchronizeFolder(_ path: String) throws(StorageError) {
        try withFolder(path) { descriptor throws(StorageError) in
            // Some file systems cannot sync a folder and do not need to.
            guard fsync(descriptor) == 0 || errno == EINVAL else {
                throw failure("cannot sync the folder \(path)", errno)
            }
        }
    }

    private static func withFolder(_ path: String, _ body: (Int32) throws(StorageError) -> Void) throws(StorageError) {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open the data folder \(path)", errno) }
        defer { _ = Glibc.close(descriptor) }
        try body(descriptor)
    }

    static func takeLock(at path: String) throws(StorageError) -> Int32 {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot open the lock file \(path)", errno) }
        do throws(StorageError) {
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                guard errno == EWOULDBLOCK else { throw failure("cannot lock \(path)", errno) }
                throw .unavailable(
                    detail: "\(path) is locked by \(owner(of: descriptor)), which uses this data folder: "
                        + "stop that server, or give this one another folder"
                )
            }
            // Sets the bits that the umask cleared. A file of another user keeps its mode.
            _ = fchmod(descriptor, 0o600)
            let text = Array("\(getpid())\n".utf8)
            guard ftruncate(descriptor, 0) == 0, unsafe pwrite(descriptor, text, text.count, 0) == text.count else {
                throw failure("cannot write the lock file \(path)", errno)
            }
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func owner(of descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: lockTextBytesMax)
        let count = unsafe pread(descriptor, &buffer, lockTextBytesMax, 0)
        let digits = buffer.prefix(max(0, count)).prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        return digits.isEmpty ? "another process" : "process \(String(decoding: digits, as: UTF8.self))"
    }

    /// Returns the error for a failed call on a file or a folder, with a remedy for its cause.
    ///
    /// Servers and commands share it.
    static func failure(_ what: String, _ code: Int32) -> StorageError {
        let reason = "\(what): \(unsafe String(cString: strerror(code))) (errno \(code))"
        switch code {
        case ENOSPC, EDQUOT: return .full(detail: reason + "; free space on that disk")
        case EIO: return .unavailable(detail: reason + "; check that disk")
        default:
            let remedy = "let the user of this process read and write there, or name another folder"
            return .unavailable(detail: "\(reason); \(remedy)")
        }
    }
}
