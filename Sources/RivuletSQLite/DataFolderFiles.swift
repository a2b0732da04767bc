// Part of Rivulet. See README.md for the architecture.
// The files of a data folder that a copy has to have.

internal import Glibc

/// What is in a data folder: the server's database, those of the process beside it, and the key.
struct DataFolderFiles {
    /// The folders with a database, relative to the data folder: "" is the data folder itself, "values" that of stored values.
    private(set) var databases: [String] = []
    /// The name of the key's file; nil: there is none.
    private(set) var key: String?
    /// What else is there, and is not of this program.
    private(set) var others: [String] = []

    /// How deep folders are searched for databases.
    private static let depthMax = 8
    static let keyName = "secret.key"

    init(in folder: String) {
        search(folder, "", depth: 0)
    }

    private mutating func search(_ folder: String, _ prefix: String, depth: Int) {
        let names = DataFolderModes.names(in: folder)
        // A backup that lies in the data folder is not a part of it.
        if names.contains(BackupManifest.name) || prefix.hasSuffix(DataFolder.partialName) {
            return others.append(prefix)
        }
        if names.contains(DataFolder.serverFilename) { databases.append(prefix) }
        for name in names {
            let path = prefix.isEmpty ? name : prefix + "/" + name
            if Self.isFolder(folder + "/" + name) {
                if depth < Self.depthMax, name != "lost+found" { search(folder + "/" + name, path, depth: depth + 1) }
            } else if name == Self.keyName, prefix.isEmpty {
                key = name
            } else if !name.hasPrefix(DataFolder.serverFilename), name != "rivulet.lock" {
                others.append(path)
            }
        }
    }

    /// Whether a folder is absent, or has nothing in it.
    static func isEmpty(_ folder: String) -> Bool {
        DataFolderModes.names(in: folder).allSatisfy { $0 == "lost+found" }
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    static func byteCount(of path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Removes a folder and what is in it.
    static func removeAll(_ folder: String) {
        for name in DataFolderModes.names(in: folder) {
            let path = folder + "/" + name
            if isFolder(path) { removeAll(path) } else { _ = unsafe unlink(path) }
        }
        _ = unsafe rmdir(folder)
    }
}
