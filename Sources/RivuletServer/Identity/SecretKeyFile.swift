import RivuletSessions

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file with one secret in it.
enum SecretKeyFile {
    /// The file's name in a data folder.
    static let name = "secret.key"
    /// The names of a backup's file list and of the folder in which a backup or a restore writes its files.
    ///
    /// RivuletSQLite defines both names.
    private static let (backupListName, partialName) = ("rivulet.backup", "rivulet.partial")
    /// The most bytes that are read from a key file.
    private static let bytesMax = 4_096

    /// Returns the text of a file that only its owner may read.
    static func read(_ path: String) throws(ServerError) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open the secret key file \(path)", errno) }
        defer { _ = close(descriptor) }
        try checkMode(of: descriptor, path)
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        let count = Self.read(descriptor, &bytes)
        guard count >= 0 else { throw failure("cannot read the secret key file \(path)", errno) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Returns the secret from the folder's key file.
    ///
    /// A missing folder or file is created, with access for its owner only.
    static func readOrMake(in folder: String) throws(ServerError) -> SecretKey {
        // The folder is checked first, so that an error names the folder and not a file in it.
        try makeFolder(folder)
        let path = folder + "/" + name
        let isNew = unsafe access(path, F_OK) != 0
        if isNew { try make(path, in: folder) }
        return try SecretKey(try read(path), from: .file(path, isNew: isNew))
    }

    /// Writes the key to a draft, then links the draft to the file's path.
    ///
    /// Linking is atomic: if two servers start at once, both read the same complete file.
    private static func make(_ path: String, in folder: String) throws(ServerError) {
        let draft = path + "." + RandomToken.make(count: 12)
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot make the secret key file \(draft)", errno) }
        defer { _ = unsafe unlink(draft) }
        let text = Array((RandomToken.make(count: 52) + "\n").utf8)
        // Restores the permissions that the umask removed.
        let isWritten =
            unsafe write(descriptor, text, text.count) == text.count && fchmod(descriptor, 0o600) == 0
            && fsync(descriptor) == 0
        let code = errno
        _ = close(descriptor)
        guard isWritten else { throw failure("cannot write the secret key file \(draft)", code) }
        guard unsafe link(draft, path) == 0 || errno == EEXIST else {
            throw failure("cannot make the secret key file \(path)", errno)
        }
        try synchronizeFolder(folder)
    }

    /// Makes the data folder if it is missing, and checks that it can be read, written and entered.
    private static func makeFolder(_ folder: String) throws(ServerError) {
        try refuseCopy(in: folder)
        var prefix = folder.hasPrefix("/") ? "/" : ""
        for part in folder.split(separator: "/") {
            let parent = prefix.isEmpty ? "." : prefix
            prefix += prefix.isEmpty || prefix.hasSuffix("/") ? part : "/" + part
            if unsafe mkdir(prefix, 0o700) == 0 {
                // Restores the permissions that the umask removed.
                guard unsafe chmod(prefix, 0o700) == 0 else {
                    throw folderFailure("cannot make the data folder \(prefix)", errno)
                }
                // A power cut must not remove the new folder, because the folder will have the sessions.
                try synchronizeFolder(parent)
            } else if errno != EEXIST {
                throw folderFailure("cannot make the data folder \(prefix)", errno)
            }
        }
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw folderFailure("cannot open the data folder \(folder)", errno) }
        _ = close(descriptor)
        guard unsafe access(folder, R_OK | W_OK | X_OK) == 0 else {
            throw folderFailure("cannot write in the data folder \(folder)", errno)
        }
    }

    /// Refuses a folder that is a backup, or that has an unfinished backup or restore.
    ///
    /// A new key would otherwise be among the files of the backup.
    private static func refuseCopy(in folder: String) throws(ServerError) {
        let (list, partial) = (folder + "/" + backupListName, folder + "/" + partialName)
        if unsafe access(partial, F_OK) == 0 {
            throw ServerError(
                "\(partial) is from an unfinished backup or restore, so the folder is incomplete: empty \(folder) and start again"
            )
        }
        if unsafe access(list, F_OK) == 0 {
            throw ServerError(
                "\(folder) is a backup, and was left as it is: restore it into another folder with `rivulet backup restore`, or remove "
                    + "\(list) to make it a data folder"
            )
        }
    }

    private static func synchronizeFolder(_ folder: String) throws(ServerError) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open the folder \(folder)", errno) }
        defer { _ = close(descriptor) }
        // Some file systems cannot sync a folder, and do not need it.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw failure("cannot sync the folder \(folder)", errno)
        }
    }

    private static func checkMode(of descriptor: Int32, _ path: String) throws(ServerError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw failure("cannot read the secret key file \(path)", errno)
        }
        guard status.st_mode & 0o077 == 0 else {
            throw ServerError("others may read the secret key file \(path); run: chmod 600 \(path)", status: EACCES)
        }
    }

    private static func read(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.read(descriptor, &bytes, bytes.count)
        #elseif canImport(Musl)
        unsafe Musl.read(descriptor, &bytes, bytes.count)
        #elseif canImport(Darwin)
        unsafe Darwin.read(descriptor, &bytes, bytes.count)
        #endif
    }

    private static func folderFailure(_ what: String, _ code: Int32) -> ServerError {
        let reason = unsafe String(cString: strerror(code))
        let remedy =
            isFull(code)
            ? "free space on that disk"
            : "choose another folder with --data, or let this server's user read and write there"
        return ServerError("\(what): \(reason) (errno \(code)); \(remedy)", status: code)
    }

    private static func failure(_ what: String, _ code: Int32) -> ServerError {
        let reason = unsafe String(cString: strerror(code))
        let remedy = isFull(code) ? "free space on that disk" : "let this server's user read and write there"
        return ServerError(
            "\(what): \(reason) (errno \(code)); \(remedy), or give the server a key in RIVULET_SECRET_KEY",
            status: code
        )
    }

    private static func isFull(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }
}

extension SecretKey {
    /// Reads the secret from a file.
    ///
    /// - Throws: `ServerError` when the file cannot be read, is too short, or is readable by other users.
    public init(file path: String) throws(ServerError) {
        try self.init(try SecretKeyFile.read(path), from: .file(path, isNew: false))
    }

    /// Reads the secret of a data folder; makes one, with mode 0600, if there is none.
    ///
    /// - Throws: `ServerError` when the folder or the file cannot be created or read. It is also thrown for a folder
    ///   that is a backup or an unfinished copy, and for a file that is too short or readable by other users.
    public init(keptIn folder: String) throws(ServerError) {
        self = try SecretKeyFile.readOrMake(in: folder.isEmpty ? "." : folder)
    }
}
