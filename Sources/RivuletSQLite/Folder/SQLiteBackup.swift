internal import Glibc
public import RivuletSessions

/// Functions that create, verify and restore backups.
///
/// A backup is a folder with the databases, the key if it is in the data folder, and the list `rivulet.backup` with
/// their checksums. The list is written last, so an unfinished backup has no list and is not accepted. Folders have
/// mode 0700, files 0600. A link to a folder is copied as a folder.
public enum SQLiteBackup {
    /// The contents of a backup.
    public struct Contents: Hashable, Sendable {
        /// The number of stored sessions.
        public var sessionCount = 0
        /// The number of stored items and values.
        public var itemCount = 0
        /// The size of all files, in bytes.
        public var byteCount = 0
        /// True if the backup has the key of the data folder.
        public var hasKey = false
        /// The files and folders of the data folder that are not in the backup, because Rivulet does not know them.
        public var leftOut: [String] = []
        /// The files and folders of the data folder that could not be searched, each with the reason.
        public var skipped: [String] = []
        /// A line for each damage.
        public var damages: [String] = []
        /// True if a damaged session has a name, so that the session can be deleted.
        var hasDamagedSessions = false
    }

    /// Creates a backup of a data folder in another folder, which must be empty or not exist.
    ///
    /// A server may use the data folder meanwhile. The copy of each database is a snapshot of one moment. Every row of
    /// the copy is verified.
    /// - Throws: `.unavailable` if there is no database, or if the other folder is not empty. `.corrupt` if the data is
    ///   damaged. `.full` if there is no space. After an error there is no backup.
    public static func create(of folder: String, in target: String) throws(StorageError) -> Contents {
        let files = try DataFolderFiles(in: folder)
        guard files.isDataFolder else {
            throw .unavailable(detail: "there is no database of Rivulet's in \(folder): name a data folder with --data")
        }
        let isNew = try makeEmptyFolder(target)
        guard !isBelow(target, folder) else {
            if isNew { DataFolderFiles.removeAll(target) }
            throw .unavailable(
                detail: "\(target) is within \(folder): name a folder outside of the data folder; nothing was written"
            )
        }
        let partial = target + "/" + DataFolder.partialName
        do throws(StorageError) {
            try DataFolder.makeFolder(partial)
            let contents = try copy(files, of: folder, to: partial)
            let list = try manifest(of: partial, files)
            try checkNames(of: list, folder)
            try settle(list, from: partial, in: target)
            try writeManifest(try manifest(of: target, files), in: target)
            return contents
        } catch {
            DataFolderFiles.removeAll(partial)
            if isNew { DataFolderFiles.removeAll(target) }
            throw error
        }
    }

    /// Reads a whole backup and lists its damage.
    ///
    /// - Throws: `.unavailable` if the folder has no finished backup, or if a file cannot be read.
    public static func verify(_ folder: String) throws(StorageError) -> Contents {
        var contents = Contents()
        for file in try readManifest(in: folder).files {
            let path = folder + "/" + file.path
            guard DataFolderModes.mode(of: path) != nil else {
                contents.damages.append("\(file.path) is missing")
                continue
            }
            contents.byteCount += file.byteCount
            if file.path == DataFolderFiles.keyName { contents.hasKey = true }
            let found = try BackupFile.read(path)
            if found.byteCount != file.byteCount || found.checksum != file.checksum {
                contents.damages.append("\(file.path) has changed since the backup was made")
            }
            if file.path != DataFolderFiles.keyName { try verify(path, as: file.path, &contents) }
        }
        return contents
    }

    /// Verifies a backup, then copies it into a folder that must be empty or not exist.
    ///
    /// - Throws: `.unavailable` if the folder is not empty or the backup is not finished. `.corrupt` if the backup is
    ///   damaged. `.full` if there is no space.
    public static func restore(_ backup: String, to folder: String) throws(StorageError) -> Contents {
        let manifest = try readManifest(in: backup)
        let contents = try verify(backup)
        guard contents.damages.isEmpty else {
            throw .corrupt(nil, detail: "\(backup): \(contents.damages.joined(separator: "; ")); nothing was restored")
        }
        let isNew = try makeEmptyFolder(folder)
        let partial = folder + "/" + DataFolder.partialName
        do throws(StorageError) {
            try DataFolder.makeFolder(partial)
            for file in manifest.files {
                try makeFolder(of: file.path, in: partial)
                let copied = try BackupFile.copy(backup + "/" + file.path, to: partial + "/" + file.path)
                guard copied.byteCount == file.byteCount, copied.checksum == file.checksum else {
                    throw .corrupt(nil, detail: "\(backup)/\(file.path) has changed while it was read")
                }
                if file.path != DataFolderFiles.keyName { try SQLiteCopy.useLog(partial + "/" + file.path) }
            }
            try settle(manifest, from: partial, in: folder)
        } catch {
            DataFolderFiles.removeAll(partial)
            if isNew { DataFolderFiles.removeAll(folder) }
            throw error
        }
        return contents
    }

    // MARK: - Parts

    private static func copy(
        _ files: DataFolderFiles,
        of folder: String,
        to partial: String
    ) throws(StorageError) -> Contents {
        var contents = Contents(hasKey: files.key != nil, leftOut: files.others, skipped: files.skipped)
        // The key is copied first. Values that are sealed later are sealed under the same key.
        if let key = files.key { _ = try BackupFile.copy(folder + "/" + key, to: partial + "/" + key) }
        for name in files.databases {
            try makeFolder(of: name, in: partial)
            let (source, target) = (folder + "/" + name, partial + "/" + name)
            do throws(SQLiteError) {
                let wait = SQLiteStorageLimits().lockWaitMilliseconds
                let connection = try SQLiteConnection(path: source, access: .readOnly, lockWaitMilliseconds: wait)
                _ = try SQLiteSchema.readableLayout(of: connection)
                do throws(StorageError) {
                    try SQLiteCopy.write(connection, to: target)
                } catch {
                    throw .refused(error)
                }
            } catch {
                throw error.storageError(for: nil)
            }
            try verify(target, as: name, &contents)
            contents.byteCount += DataFolderFiles.byteCount(of: target)
        }
        guard contents.damages.isEmpty else {
            let remedy = contents.hasDamagedSessions ? "; a damaged session can be deleted" : ""
            throw .corrupt(
                nil,
                detail: "\(folder): \(contents.damages.joined(separator: "; ")); no backup was made\(remedy)"
            )
        }
        return contents
    }

    private static func verify(_ path: String, as name: String, _ contents: inout Contents) throws(StorageError) {
        do throws(SQLiteError) {
            var verifier = try DatabaseVerifier(path: path)
            try verifier.verify()
            contents.sessionCount += verifier.sessionCount
            contents.itemCount += verifier.itemCount
            contents.damages += verifier.damages.map { "\(name): \($0)" }
            if verifier.hasDamagedSessions { contents.hasDamagedSessions = true }
        } catch {
            guard case .corrupt(_, let detail) = error.storageError(for: nil) else {
                throw error.storageError(for: nil)
            }
            contents.damages.append("\(name): \(detail)")
        }
    }

    /// Creates a folder, or uses an empty one; returns true if the folder did not exist.
    private static func makeEmptyFolder(_ folder: String) throws(StorageError) -> Bool {
        let isNew = DataFolderModes.mode(of: folder) == nil
        try DataFolder.makeFolder(folder)
        guard DataFolderFiles.isEmpty(folder) else {
            throw .unavailable(
                detail: "\(folder) is not empty: name a folder that is empty or does not exist; nothing was written"
            )
        }
        guard unsafe isNew || chmod(folder, 0o700) == 0 || errno == EPERM else {
            throw DataFolder.failure("cannot set the mode of \(folder)", errno)
        }
        return isNew
    }

    /// Returns true if a folder is the same as another one or within it, after links are resolved.
    private static func isBelow(_ folder: String, _ other: String) -> Bool {
        guard let inner = resolved(folder), let outer = resolved(other) else { return false }
        return inner == outer || inner.hasPrefix(outer == "/" ? outer : outer + "/")
    }

    private static func resolved(_ path: String) -> String? {
        // SAFETY: without a buffer from the caller, the system allocates the text, which ends with a zero byte.
        guard let text = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    private static func makeFolder(of path: String, in folder: String) throws(StorageError) {
        guard let end = path.lastIndex(of: "/") else { return }
        try DataFolder.makeFolder(folder + "/" + path[..<end])
    }

    private static func manifest(of folder: String, _ files: DataFolderFiles) throws(StorageError) -> BackupManifest {
        // The server's database comes last, so a folder that has this database has all other files.
        let names = [files.key].compactMap(\.self) + files.databases.filter { $0 != DataFolder.serverFilename }
        var manifest = BackupManifest(files: [])
        for name in names + files.databases.filter({ $0 == DataFolder.serverFilename }) {
            let (byteCount, checksum) = try BackupFile.read(folder + "/" + name)
            manifest.files.append(BackupManifest.File(path: name, byteCount: byteCount, checksum: checksum))
        }
        return manifest
    }

    /// Refuses names that the list cannot represent, such as a name with a line break, because the backup could not be
    /// read.
    private static func checkNames(of manifest: BackupManifest, _ folder: String) throws(StorageError) {
        for file in manifest.files where !BackupManifest(files: [file]).isReadable {
            throw .unavailable(
                detail: "the name of \(folder)/\(file.path) has a line break, which the list of a backup cannot hold: "
                    + "rename the database; no backup was made"
            )
        }
    }

    /// Moves complete files to their final paths, in the order of the list.
    private static func settle(
        _ manifest: BackupManifest,
        from partial: String,
        in folder: String
    ) throws(StorageError) {
        for file in manifest.files {
            try makeFolder(of: file.path, in: folder)
            try BackupFile.rename(partial + "/" + file.path, to: folder + "/" + file.path)
            if let end = file.path.lastIndex(of: "/") {
                try DataFolder.synchronizeFolder(folder + "/" + file.path[..<end])
            }
        }
        try DataFolder.synchronizeFolder(folder)
        DataFolderFiles.removeAll(partial)
        try DataFolder.synchronizeFolder(folder)
    }

    private static func writeManifest(_ manifest: BackupManifest, in folder: String) throws(StorageError) {
        let (path, new) = (folder + "/" + BackupManifest.name, folder + "/" + BackupManifest.name + ".new")
        try BackupFile.write(new) { (put) throws(StorageError) in try put(Array(manifest.text.utf8)) }
        try BackupFile.rename(new, to: path)
        try DataFolder.synchronizeFolder(folder)
    }

    private static func readManifest(in folder: String) throws(StorageError) -> BackupManifest {
        let path = folder + "/" + BackupManifest.name
        guard DataFolderModes.mode(of: path) != nil else {
            throw .unavailable(detail: "there is no \(path): \(folder) is no backup, or one that was not finished")
        }
        var text: [UInt8] = []
        _ = try BackupFile.read(path) { (bytes) throws(StorageError) in text += bytes }
        guard let manifest = BackupManifest(String(decoding: text, as: UTF8.self)) else {
            throw .corrupt(nil, detail: "\(path) is damaged, or of a newer version")
        }
        return manifest
    }
}
