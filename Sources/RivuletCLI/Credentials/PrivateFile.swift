import RivuletServer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that commands replace as a whole, and that only its owner may read.
///
/// A reader sees the old content or the new one. Two commands on files of one folder run after each other.
package struct PrivateFile {
    /// The longest wait for another command, in milliseconds.
    private static let waitMillisecondsMax = 10_000
    /// The time between two attempts to lock the folder, in milliseconds.
    private static let attemptMilliseconds = 10

    /// The path as it was given.
    private let path: String
    /// The path of the file itself: a link to the file stays a link.
    private let target: String

    package init(_ path: String) {
        self.path = path
        if let resolved = unsafe realpath(path, nil) {
            target = unsafe String(cString: resolved)
            unsafe free(resolved)
        } else {
            target = path
        }
    }

    /// Replaces the content by a new one, which is on disk when this returns.
    ///
    /// The closure gets the present content; nil if there is no file. If the closure throws, the file stays as it is.
    /// `remedy` is for a file that was replaced, when a power cut may still bring back the earlier one.
    ///
    /// - Throws: a `ServerError` with the path and the remedy, or the error of the closure.
    package func edit<Outcome>(
        remedy: (Outcome) -> String,
        _ change: (_ present: [UInt8]?) throws -> (bytes: [UInt8], outcome: Outcome)
    ) throws -> Outcome {
        let folder = unsafe open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure("cannot open the folder of \(path)", errno) }
        // The end of the process, too, ends the lock.
        defer { _ = close(folder) }
        try lock(folder)
        let (bytes, outcome) = try change(try content())
        try replace(by: bytes)
        // Some file systems cannot sync a folder, and do not need it.
        guard fsync(folder) == 0 || errno == EINVAL else {
            let code = errno
            throw ServerError(
                "cannot sync the folder of \(path): \(Self.reason(code)). The file was replaced, and a power cut may bring back the earlier "
                    + "one. \(remedy(outcome))",
                status: code
            )
        }
        return outcome
    }

    /// The content of the file; nil if there is none.
    private func content() throws(ServerError) -> [UInt8]? {
        do throws(ServerError) {
            let file = try CredentialFile(target)
            try file.checkIsPrivate()
            return file.bytes
        } catch {
            guard error.status == ENOENT else { throw error }
            return nil
        }
    }

    private var folderPath: String {
        guard let slash = target.lastIndex(of: "/") else { return "." }
        return slash == target.startIndex ? "/" : String(target[..<slash])
    }

    private func lock(_ folder: Int32) throws(ServerError) {
        for _ in 0..<(Self.waitMillisecondsMax / Self.attemptMilliseconds) {
            if flock(folder, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw failure("cannot lock the folder of \(path)", errno)
            }
            usleep(UInt32(Self.attemptMilliseconds) * 1_000)
        }
        throw ServerError(
            "another command has locked the folder of \(path) for \(Self.waitMillisecondsMax / 1_000) seconds; nothing was changed, try again"
        )
    }

    private func replace(by bytes: [UInt8]) throws(ServerError) {
        let temporary = target + ".new"
        // A command that was killed may have left it. The lock keeps other commands away.
        guard unsafe unlink(temporary) == 0 || errno == ENOENT else {
            throw failure("cannot remove \(temporary)", errno)
        }
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot write \(temporary)", errno) }
        do throws(ServerError) {
            defer { _ = close(descriptor) }
            try takeOwner(descriptor)
            try write(bytes, to: descriptor)
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
        guard unsafe rename(temporary, target) == 0 else {
            let code = errno
            _ = unsafe unlink(temporary)
            throw failure("cannot replace \(path)", code)
        }
    }

    /// Gives the new file the owner of the present one, so that the server's user can still read it.
    private func takeOwner(_ descriptor: Int32) throws(ServerError) {
        // Sets the bits that the umask cleared.
        guard fchmod(descriptor, 0o600) == 0 else { throw failure("cannot write \(path)", errno) }
        var status = stat()
        guard unsafe stat(target, &status) == 0 else {
            guard errno == ENOENT else { throw failure("cannot read \(path)", errno) }
            return
        }
        guard status.st_uid != geteuid() || status.st_gid != getegid() else { return }
        guard fchown(descriptor, status.st_uid, status.st_gid) == 0 else {
            throw ServerError("\(path) belongs to another user; run this command as that user. Nothing was changed")
        }
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) throws(ServerError) {
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start, off_t(start))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("cannot write \(path)", errno) }
            start += count
        }
        guard fsync(descriptor) == 0 else { throw failure("cannot sync \(path)", errno) }
    }

    private func failure(_ what: String, _ code: Int32) -> ServerError {
        let remedy =
            code == ENOSPC || code == EDQUOT
            ? "free space on that disk" : "let the user of this command write there, or name another file"
        return ServerError("\(what): \(Self.reason(code)); \(remedy). Nothing was changed", status: code)
    }

    private static func reason(_ code: Int32) -> String {
        "\(unsafe String(cString: strerror(code))) (errno \(code))"
    }
}
