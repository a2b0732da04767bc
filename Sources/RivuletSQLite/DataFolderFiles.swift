// Part of Rivulet. See README.md for the architecture.
// The files of a data folder that a copy has to have.

internal import CSQLite
internal import Glibc
internal import RivuletSessions

/// The files in a data folder: Rivulet's databases, the key, and the others.
///
/// Links to folders are followed. A folder is read once, whatever leads to it.
struct DataFolderFiles {
    /// The paths of the databases, relative to the data folder: "rivulet.db", "values/rivulet.db", "notes.sqlite3".
    private(set) var databases: [String] = []
    /// The name of the key's file; nil: there is none.
    private(set) var key: String?
    /// The files and folders that a copy leaves out.
    private(set) var others: [String] = []

    private var visited: Set<[UInt64]> = []

    /// The deepest folder that is searched for databases; deeper ones are among the others.
    private static let depthMax = 8
    static let keyName = "secret.key"

    /// Reads the names in a folder; none where the folder is absent.
    ///
    /// - Throws: `.unavailable` when a folder cannot be read, or a file that may be a database.
    init(in folder: String) throws(StorageError) {
        try search(folder, "", depth: 0)
    }

    /// Whether a database is where Rivulet puts those of a data folder: at the top, or in a folder of its own there.
    var isDataFolder: Bool {
        databases.contains { path in
            guard let end = path.firstIndex(of: "/") else { return true }
            return DataFolder.subfolders.contains(String(path[..<end]))
        }
    }

    private mutating func search(_ folder: String, _ prefix: String, depth: Int) throws(StorageError) {
        guard let identity = Self.identity(of: folder), visited.insert(identity).inserted else { return }
        guard let names = DataFolderModes.list(folder) else {
            throw DataFolder.failure("cannot list the folder \(folder)", errno)
        }
        // A backup that lies below the data folder is not a part of it.
        if !prefix.isEmpty, names.contains(BackupManifest.name) || prefix.hasSuffix(DataFolder.partialName) {
            return others.append(prefix)
        }
        var known: Set = [BackupManifest.name, DataFolder.serverLockName]
        for name in names where try Self.isDatabase(folder, name) {
            databases.append(prefix.isEmpty ? name : prefix + "/" + name)
            known.formUnion(DataFolder.databaseSuffixes.map { name + $0 })
        }
        for name in names where !known.contains(name) {
            let path = prefix.isEmpty ? name : prefix + "/" + name
            if prefix.isEmpty, name == Self.keyName {
                key = name
            } else if name == "lost+found" {
                continue
            } else if depth < Self.depthMax, Self.leadsToFolder(folder + "/" + name) {
                try search(folder + "/" + name, path, depth: depth + 1)
            } else {
                others.append(path)
            }
        }
    }

    /// Whether a file is a server's database, or has an engine's suffix and Rivulet's number.
    ///
    /// SQLite opens the file: to open and close it otherwise would end the locks of an engine in this process.
    private static func isDatabase(_ folder: String, _ name: String) throws(StorageError) -> Bool {
        let path = folder + "/" + name
        if name == DataFolder.serverFilename { return !leadsToFolder(path) }
        guard name.hasSuffix(DataFolder.namedSuffix), !leadsToFolder(path) else { return false }
        do throws(SQLiteError) {
            let wait = SQLiteStorageLimits().lockWaitMilliseconds
            let connection = try SQLiteConnection(path: path, access: .readOnly, lockWaitMilliseconds: wait)
            return try connection.integer("PRAGMA application_id") == SQLiteSchema.applicationID
        } catch {
            if error.isNoDatabase { return false }
            throw error.storageError(for: nil)
        }
    }

    /// Whether a folder is absent, or has nothing in it.
    static func isEmpty(_ folder: String) -> Bool {
        DataFolderModes.names(in: folder).allSatisfy { $0 == "lost+found" }
    }

    /// Whether a path is a folder, or a link to one.
    private static func leadsToFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether a path is a symbolic link.
    static func isLink(_ path: String) -> Bool { linkMode(of: path) == S_IFLNK }

    /// The kind of a file, or of a link itself; nil: there is none.
    private static func linkMode(of path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// The device and the number of a folder; nil: it is not there.
    private static func identity(of folder: String) -> [UInt64]? {
        var status = stat()
        return unsafe stat(folder, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
    }

    static func byteCount(of path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Removes a folder and what is in it; of a link, the link alone.
    static func removeAll(_ folder: String) {
        for name in DataFolderModes.names(in: folder) {
            let path = folder + "/" + name
            if linkMode(of: path) == S_IFDIR { removeAll(path) } else { _ = unsafe unlink(path) }
        }
        _ = unsafe rmdir(folder)
    }
}
