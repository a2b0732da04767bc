internal import Glibc

/// The modes of a data folder (0700) and of its files (0600), which do not depend on the umask.
enum DataFolderModes {
    /// Removes the rights of other users from a folder and from the files of a database in it; returns a line for each
    /// failure.
    ///
    /// A folder that has files of other programs keeps its mode, because other users may need these files. SQLite gives
    /// the write-ahead log and the shared-memory file the mode of the database. The files are not opened, because
    /// closing a file would release SQLite's locks on it.
    static func tighten(_ folder: String, filename: String) -> [String] {
        let suffixes = ["", "-wal", "-shm", "-journal"]
        let files = suffixes.map { folder + "/" + filename + $0 } + [folder + "/" + DataFolder.serverLockName]
        let isShared = hasOthersFiles(folder, filename: filename)
        return (isShared ? files : [folder] + files).compactMap { path in
            tighten(path) ? nil : notice(path)
        } + (isShared && mode(of: folder).map { $0 & 0o077 != 0 } == true ? [notice(folder)] : [])
    }

    /// Removes the rights of other users; returns false if that is not possible.
    private static func tighten(_ path: String) -> Bool {
        guard let mode = mode(of: path), mode & 0o077 != 0 else { return true }
        return unsafe chmod(path, mode & 0o700) == 0
    }

    /// Returns the mode of a file or a folder; nil if it does not exist.
    static func mode(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    private static func notice(_ path: String) -> String {
        "other users may look into \(path): run chmod go-rwx \(path) as its owner, or use a folder that nothing else is in"
    }

    /// Returns true if a folder has files or folders that were not created by Rivulet.
    private static func hasOthersFiles(_ folder: String, filename: String) -> Bool {
        let ours = ["rivulet.", "secret.key", filename]
        let folders = DataFolder.subfolders.union(["lost+found"])
        return names(in: folder).contains { name in
            !folders.contains(name) && !ours.contains(where: name.hasPrefix)
        }
    }

    /// Returns the names in a folder; empty if the folder cannot be listed.
    static func names(in folder: String) -> [String] { list(folder) ?? [] }

    /// Returns the names in a folder; nil if the folder cannot be listed, with the reason in `errno`.
    static func list(_ folder: String) -> [String]? {
        guard let stream = unsafe opendir(folder) else { return nil }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { characters in
                    unsafe String(cString: characters)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
