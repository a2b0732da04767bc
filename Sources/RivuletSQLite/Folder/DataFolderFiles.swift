internal import CSQLite
internal import Glibc
internal import RivuletSessions

/// The files in a data folder: Rivulet's databases, the key, and the others.
///
/// Links to folders are followed: a folder to which two paths lead is found under both. A link to a folder above it is skipped.
struct DataFolderFiles {
    /// The paths of the databases, relative to the data folder: "rivulet.db", "values/rivulet.db", "notes.sqlite3".
    private(set) var databases: [String] = []
    /// The name of the key's file; nil: there is none.
    private(set) var key: String?
    /// The files and folders that a copy leaves out because Rivulet does not know them.
    private(set) var others: [String] = []
    /// The files and folders that could not be searched, each with the reason: "old: cannot list the folder …".
    private(set) var skipped: [String] = []

    private let isStart: Bool
    private var foldersLeft = Self.foldersMax

    /// The deepest folder that is searched for databases; deeper ones are among the others.
    private static let depthMax = 8
    /// The folders that are searched at most: links can lead to one folder by many paths.
    private static let foldersMax = 10_000
    /// The time that another program's lock on a file is waited for; a start waits on the thread of a server's loop.
    private static let lockWaitMilliseconds = 1_000
    static let keyName = "secret.key"

    /// Reads the names in a folder and in the folders below it; none where the folder is absent.
    ///
    /// - Throws: `.unavailable` when the folder, or a folder in which Rivulet has databases, cannot be read, or a file there that may be a
    ///   database. Deeper ones are skipped.
    init(in folder: String) throws(StorageError) {
        isStart = false
        try search(folder, "", above: [])
    }

    /// Reads the names in a folder and in the folders in which Rivulet has databases; skips what cannot be read.
    init(atStartIn folder: String) {
        isStart = true
        do throws(StorageError) {
            try search(folder, "", above: [])
        } catch {
            skipped.append("\(error)")
        }
    }

    /// Whether a database is where Rivulet puts those of a data folder: at the top, or in a folder of its own there.
    var isDataFolder: Bool {
        databases.contains { path in
            guard let end = path.firstIndex(of: "/") else { return true }
            return DataFolder.subfolders.contains(String(path[..<end]))
        }
    }

    /// The databases of the folder, each under the first of its paths.
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
            return skipped.append("\(prefix): \(Self.foldersMax) folders were searched before it")
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
        // Rivulet's own folders and real folders first: a vacuum takes the first path of a database.
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

    /// Adds the databases of one folder; returns the names of files that are no others.
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
            } catch {
                try skip(path, in: prefix, error)
                known.insert(name)
            }
        }
        return known
    }

    /// Skips what cannot be read, unless a copy without it would lack a part of the data folder.
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

    /// Whether a file is a server's database, or has an engine's suffix and Rivulet's number.
    ///
    /// SQLite opens the file: to open and close it otherwise would end the locks of an engine in this process.
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
