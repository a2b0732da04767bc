internal import Glibc

/// A folder, and operations on the files in it.
struct DiskFolder {
    let path: String

    /// Returns the bytes of a file; nil if there is no regular file with this name.
    func read(_ name: String) throws(ItemStorageError) -> [UInt8]? {
        let descriptor = unsafe open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure("open", name)
        }
        defer { _ = close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("stat", name) }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start, off_t(start))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", name) }
            // The file has become shorter. The checksum will detect that.
            if count == 0 { return Array(bytes[..<start]) }
            start += count
        }
        return bytes
    }

    /// Writes a file from the start.
    ///
    /// Its bytes are on disk when this returns; its name is on disk after ``sync()`` of the folder.
    func write(_ bytes: [UInt8], to name: String) throws(ItemStorageError) {
        let descriptor = unsafe open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open", name) }
        defer { _ = close(descriptor) }
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start, off_t(start))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write", name) }
            start += count
        }
        guard fsync(descriptor) == 0 else { throw failure("sync", name) }
    }

    /// Renames a file, and replaces a file that has the new name.
    ///
    /// - Returns: False if no file has the old name.
    @discardableResult
    func rename(_ old: String, to new: String) throws(ItemStorageError) -> Bool {
        if unsafe Glibc.rename("\(path)/\(old)", "\(path)/\(new)") == 0 { return true }
        guard errno == ENOENT else { throw failure("rename", old) }
        return false
    }

    /// Removes a file, if it exists.
    func remove(_ name: String) throws(ItemStorageError) {
        guard unsafe unlink("\(path)/\(name)") == 0 || errno == ENOENT else { throw failure("remove", name) }
    }

    /// Makes the names of files durable.
    func sync() throws(ItemStorageError) {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", "") }
        defer { _ = close(descriptor) }
        // Some file systems cannot sync a folder, and do not need it.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure("sync", "") }
    }

    /// Returns the names of all entries of the folder; empty if the folder does not exist.
    func names() throws(ItemStorageError) -> [String] {
        guard let stream = unsafe opendir(path) else {
            if errno == ENOENT { return [] }
            throw failure("list", "")
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { characters in
                    unsafe String(cString: characters)
                }
            }
            names.append(name)
            errno = 0
        }
        guard errno == 0 else { throw failure("list", "") }
        return names
    }

    /// True if the folder exists.
    var isThere: Bool { unsafe access(path, F_OK) == 0 }

    /// Creates the folder and the folders above it, if they are missing.
    func make() throws(ItemStorageError) {
        var prefix = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            let parent = prefix.isEmpty ? "." : prefix
            prefix += prefix.isEmpty || prefix.hasSuffix("/") ? part : "/" + part
            if unsafe mkdir(prefix, 0o700) == 0 {
                try DiskFolder(path: parent).sync()
            } else if errno != EEXIST {
                throw DiskFolder(path: prefix).failure("make", "")
            }
        }
    }

    /// Locks a file for this process, until ``unlock(_:)``.
    func lock(_ name: String) throws(ItemStorageError) -> Int32 {
        let descriptor = unsafe open("\(path)/\(name)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open", name) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            _ = close(descriptor)
            guard error == EWOULDBLOCK else { throw failure("lock", name, error) }
            let detail = "\(path)/\(name) is locked: another engine or process uses this folder; close it first"
            throw .unavailable(detail: detail)
        }
        return descriptor
    }

    /// Releases the lock that `lock` returned.
    static func unlock(_ descriptor: Int32) {
        // A child process that is being spawned has a copy of the descriptor until its program runs. Closing this
        // descriptor alone would not release the lock.
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
    }

    private func failure(_ call: String, _ name: String, _ code: Int32 = errno) -> ItemStorageError {
        let reason = unsafe String(cString: strerror(code))
        let file = name.isEmpty ? path : "\(path)/\(name)"
        let detail = "cannot \(call) \(file): \(reason) (errno \(code))"
        return code == ENOSPC || code == EDQUOT
            ? .full(detail: detail + "; free space on its disk")
            : .unavailable(detail: detail + "; give this user read and write access to it, and check the disk")
    }
}
