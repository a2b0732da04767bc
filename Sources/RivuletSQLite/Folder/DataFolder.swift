internal import Glibc
internal import RivuletSessions

/// A data folder that belongs to this process until the value is gone.
final class DataFolder: Sendable {
    /// The database file in the folder.
    let databasePath: String

    /// Lines for the log about what others may read there.
    let notices: [String]

    private let lockDescriptor: Int32

    /// The name of a server's database file.
    static let serverFilename = "rivulet.db"
    /// The name of the lock of a server's database.
    static let serverLockName = "rivulet.lock"
    /// The end of the name of a database that a program has named.
    static let namedSuffix = ".sqlite3"
    /// The folders of a data folder in which values and in-process states have databases.
    static let subfolders: Set = ["values", "states"]
    /// The ends of the names of a database and of the files beside it.
    static let databaseSuffixes = ["", "-wal", "-shm", "-journal", ".lock"] + vacuumSuffixes
    /// The ends of the names of the copy that a vacuum writes, and of the files beside that.
    private static let vacuumSuffixes = [".vacuum", ".vacuum-journal", ".vacuum-wal", ".vacuum-shm"]

    /// Makes the folder if it is missing, and takes the lock of this database.
    init(path: String, filename: String = serverFilename) throws(StorageError) {
        let folder = path.isEmpty ? "." : path
        databasePath = Self.databasePath(in: folder, filename: filename)
        try Self.refuseCopy(in: folder)
        if let parent = Self.dataFolder(ofSubfolder: folder) { try Self.refuseCopy(in: parent) }
        try Self.makeFolder(folder)
        let lock = filename == Self.serverFilename ? Self.serverLockName : filename + ".lock"
        lockDescriptor = try Self.takeLock(at: folder + "/" + lock)
        notices = DataFolderModes.tighten(folder, filename: filename)
        try Self.makeFile(databasePath)
        try Self.removeVacuum(of: databasePath)
    }

    /// The name of the folder in which a restore or a backup puts files before they take their places.
    static let partialName = "rivulet.partial"

    /// The path of the file that a vacuum writes before it takes the place of the database.
    static func vacuumPath(of databasePath: String) -> String { databasePath + ".vacuum" }

    /// Removes the files of a vacuum that did not end.
    static func removeVacuum(of databasePath: String) throws(StorageError) {
        for suffix in vacuumSuffixes { try remove(databasePath + suffix) }
    }

    /// The path of the database file in a folder.
    static func databasePath(in folder: String, filename: String = serverFilename) -> String {
        (folder.isEmpty ? "." : folder) + "/" + filename
    }

    deinit {
        // The file stays: removing it would let two servers lock different files. A child that is being spawned has a copy of the
        // descriptor until it runs: to close this one is not enough.
        _ = flock(lockDescriptor, LOCK_UN)
        _ = Glibc.close(lockDescriptor)
    }

    /// The longest process number that the lock file is read for, in bytes.
    private static let lockTextBytesMax = 32

    /// Makes an empty database file for the owner's eyes only; one that is there stays.
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

    /// Removes a file that need not be there.
    static func remove(_ path: String) throws(StorageError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("cannot remove \(path)", errno) }
    }

    /// Refuses a folder that is a backup, or that a restore or a backup has not finished.
    static func refuseCopy(in folder: String) throws(StorageError) {
        try refuseUnfinishedRestore(in: folder)
        try refuseBackup(in: folder)
    }

    /// The folder above one that has the name of a data folder's own folder, such as `values`; nil: it has another name.
    private static func dataFolder(ofSubfolder path: String) -> String? {
        guard let name = path.split(separator: "/").last, subfolders.contains(String(name)) else { return nil }
        let parent = path[..<name.startIndex]
        return parent.isEmpty ? "." : parent == "/" ? "/" : String(parent.dropLast())
    }

    private static func refuseUnfinishedRestore(in folder: String) throws(StorageError) {
        let path = folder + "/" + partialName
        guard unsafe access(path, F_OK) == 0 else { return }
        throw .unavailable(
            detail: "\(path) is of a restore or a backup that was not finished, so the folder is not whole: "
                + "empty \(folder) and begin it anew"
        )
    }

    /// A server or a vacuum would change the files, and the backup could not be verified or restored any more.
    private static func refuseBackup(in folder: String) throws(StorageError) {
        let path = folder + "/" + BackupManifest.name
        guard unsafe access(path, F_OK) == 0 else { return }
        throw .unavailable(
            detail:
                "\(folder) is a backup, and was left as it is: put it into another folder with `rivulet backup restore`, or remove "
                + "\(path) to make it a data folder"
        )
    }

    static func makeFolder(_ path: String) throws(StorageError) {
        var prefix = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            let parent = prefix.isEmpty ? "." : prefix
            prefix += prefix.isEmpty || prefix.hasSuffix("/") ? part : "/" + part
            if unsafe mkdir(prefix, 0o700) == 0 {
                // Whatever the umask took away.
                guard unsafe chmod(prefix, 0o700) == 0 else {
                    throw failure("cannot make the data folder \(prefix)", errno)
                }
                // A new name is durable when its parent folder is.
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
            // Some file systems cannot sync a folder, and have no need to.
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
            // What the umask took away; a file of another user keeps its mode.
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

    /// The failure of a call on a file or a folder, with the remedy of its cause; servers and commands have it in common.
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
