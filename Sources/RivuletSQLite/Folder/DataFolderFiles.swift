internal import CSQLite
internal import Glibc
internal import RivuletSessions

/// The files in a data folder: Rivulet's databases, the key, and other files.
///
/// Links to folders are followed, so a folder with two paths is found under both. A link to a folder above the link is
/// skipped.
struct DataFolderFiles {
    /// The paths of the databases, relative to the data folder: "rivulet.db", "values/rivulet.db", "notes.sqlite3".
    private(set) var databases: [String] = []
    /// The name of the key's file; nil if there is none.
    private(set) var key: String?
    /// The files and folders that a copy leaves out because Rivulet does not know them.
    private(set) var others: [String] = []
    /// The files and folders that could not be searched, each with the reason: "old: cannot list the folder …".
    private(set) var skipped: [String] = []

    private let isStart: Bool
    private var foldersLeft = Self.foldersMax

    /// The depth of the deepest folders that are searched for databases.
    ///
    /// Deeper folders are listed in `others`.
    private static let depthMax = 8
    /// The maximum number of folders that are searched, because links can lead to one folder by many paths.
    private static let foldersMax = 10_000
    /// The maximum wait for another program's lock on a file.
    ///
    /// At a start, this wait blocks the thread of a server's event loop.
    private static let lockWaitMilliseconds = 1_000
    static let keyName = "secret.key"

    /// Reads the names in a folder and in the folders below it.
    ///
    /// If the folder does not exist, it has no names.
    ///
    /// - Throws: `.unavailable` if the folder, a subfolder in which Rivulet has databases, or a possible database there
    ///   cannot be read. Deeper folders that cannot be read are skipped.
    init(in folder: String) throws(StorageError) {
        isStart = false
        try search(folder, "", above: [])
    }

    /// Reads the names in a folder and in the subfolders in which Rivulet has databases.
    ///
    /// Unreadable files and folders are skipped.
    init(atStartIn folder: String) {
        isStart = true
        do throws(StorageError) {
            try search(folder, "", above: [])
        } catch {
            skipped.append("\(error)")
        }
    }

    /// True if a database is at a usual location of a data folder: at the top, or in one of Rivulet's subfolders.
    var isDataFolder: Bool {
        databases.contains { path in
            guard let end = path.firstIndex(of: "/") else { return true }
            return DataFolder.subfolders.contains(String(path[..<end]))
        }
    }

    /// Returns the databases of the folder, each under the first of its paths.
    func distinctDatabases(in folder: String) -> [String] {
        var known: Set<[String]> = []
        return databases.filter { path in
            let parts = path.split(separator: "/")
            let parent = ([folder[...]] + parts.dropLast()).joined(separator: "/")
            let identity = Self.identity(of: parent)?.map { String($0) } ?? [parent]
            return known.insert(identity + parts.suffix(1).map { String($0) }).inserted
        }
    }

    private mutating func search(_ folder: String, _ prefix: String, above: [[UInt64]]) throws(StorageError) {
        guard let identity = Self.identity(of: folder) else { return }
        guard !above.contains(identity) else {
            return skipped.append("\(prefix): the link leads to a folder above it")
        }
        guard foldersLeft > 0 else {
            return skipped.append("\(prefix): not searched, because the limit is \(Self.foldersMax) folders")
        }
        foldersLeft -= 1
        guard let names = DataFolderModes.list(folder) else {
            return try skip(prefix, in: prefix, DataFolder.failure("cannot list the folder \(folder)", errno))
        }
        // A backup that lies below the data folder is not a part of it.
        if !prefix.isEmpty, names.contains(BackupManifest.name) || prefix.hasSuffix(DataFolder.partialName) {
            return others.append(prefix)
        }
        let known = try findDatabases(names, folder, prefix)
        // Rivulet's own folders and real folders come first, because a vacuum uses the first path of a database.
        let ranks = Dictionary(grouping: names.filter { !known.contains($0) }) { Self.rank(of: $0, in: folder) }
        for name in (0...2).flatMap({ ranks[$0] ?? [] }) {
            let path = prefix.isEmpty ? name : prefix + "/" + name
            if prefix.isEmpty, name == Self.keyName {
                key = name
            } else if name == "lost+found" {
                continue
            } else if isSearched(name, prefix, depth: above.count), Self.leadsToFolder(folder + "/" + name) {
                try search(folder + "/" + name, path, above: above + [identity])
            } else {
                others.append(path)
            }
        }
    }

    /// Adds the databases of one folder; returns the names of files that do not belong to `others`.
    private mutating func findDatabases(
        _ names: [String],
        _ folder: String,
        _ prefix: String
    ) throws(StorageError) -> Set<String> {
        var known: Set = [BackupManifest.name, DataFolder.serverLockName]
        for name in names {
            let path = prefix.isEmpty ? name : prefix + "/" + name
            do throws(StorageError) {
                guard try Self.isDatabase(folder, name) else { continue }
                databases.append(path)
                known.formUnion(DataFolder.databaseSuffixes.map { name + $0 })
                known.formUnion(names.filter { LogRecovery.isKept($0, of: name) })
            } catch {
                try skip(path, in: prefix, error)
                known.insert(name)
            }
        }
        return known
    }

    /// Skips an unreadable path, or throws if a copy without this path would lack a part of the data folder.
    private mutating func skip(_ path: String, in prefix: String, _ error: StorageError) throws(StorageError) {
        guard isStart || !(prefix.isEmpty || DataFolder.subfolders.contains(prefix)) else { throw error }
        if case .unavailable(let detail) = error {
            skipped.append("\(path): \(detail)")
        } else {
            skipped.append("\(path): \(error)")
        }
    }

    private func isSearched(_ name: String, _ prefix: String, depth: Int) -> Bool {
        isStart ? prefix.isEmpty && DataFolder.subfolders.contains(name) : depth < Self.depthMax
    }

    private static func rank(of name: String, in folder: String) -> Int {
        if DataFolder.subfolders.contains(name) { return 0 }
        return isLink(folder + "/" + name) ? 2 : 1
    }

    /// Returns true if a file is a server's database, or has an engine's suffix and Rivulet's application id.
    ///
    /// SQLite opens the file, because closing it any other way would release the locks of an engine in this process.
    private static func isDatabase(_ folder: String, _ name: String) throws(StorageError) -> Bool {
        let path = folder + "/" + name
        if name == DataFolder.serverFilename { return !leadsToFolder(path) }
        guard name.hasSuffix(DataFolder.namedSuffix), !leadsToFolder(path) else { return false }
        do throws(SQLiteError) {
            let wait = lockWaitMilliseconds
            let connection = try SQLiteConnection(path: path, access: .readOnly, lockWaitMilliseconds: wait)
            return try connection.integer("PRAGMA application_id") == SQLiteSchema.applicationID
        } catch {
            if error.isNoDatabase { return false }
            throw error.storageError(for: nil)
        }
    }

    /// Returns true if a folder does not exist or is empty, except for `lost+found`.
    static func isEmpty(_ folder: String) -> Bool {
        DataFolderModes.names(in: folder).allSatisfy { $0 == "lost+found" }
    }

    /// Returns true if a path is a folder or a link to a folder.
    private static func leadsToFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns true if a path is a symbolic link.
    static func isLink(_ path: String) -> Bool { linkMode(of: path) == S_IFLNK }

    /// Returns the kind of a file, or of a link itself; nil if neither exists.
    private static func linkMode(of path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Returns the device and the inode number of a folder; nil if the folder does not exist.
    private static func identity(of folder: String) -> [UInt64]? {
        var status = stat()
        return unsafe stat(folder, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
    }

    static func byteCount(of path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Removes a folder and its contents.
    ///
    /// If an entry is a link, only the link is removed.
    static func removeAll(_ folder: String) {
        for name in DataFolderModes.names(in: folder) {
            let path = folder + "/" + name
            if linkMode(of: path) == S_IFDIR { removeAll(path) } else { _ = unsafe unlink(path) }
        }
        _ = unsafe rmdir(folder)
    }
}
