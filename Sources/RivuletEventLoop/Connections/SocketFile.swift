internal import Glibc
internal import Synchronization

/// The file of a listening Unix socket.
///
/// The kernel keeps the file after the process has ended. So a server removes it when it stops, and replaces the file
/// of a server that could not. Source: unix(7).
package final class SocketFile: Sendable {
    /// The most bytes of a path.
    package static var pathBytesMax: Int { SocketAddress.pathBytesMax }

    package let path: String
    private let device: UInt64
    private let inode: UInt64
    private let isRemoved = Mutex(false)

    /// Takes over the file that has just been made at a path.
    init(at path: String) throws(LoopError) {
        let status = try Self.status(of: path)
        (self.path, device, inode) = (path, UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// Removes the file, unless another file has its path by now.
    ///
    /// Call this before the last socket that listens is closed. As long as one is open, the kernel gives the file's
    /// number to no other file, and no other server takes the path.
    package func remove() {
        isRemoved.withLock { isRemoved in
            guard !isRemoved else { return }
            isRemoved = true
            var status = stat()
            guard unsafe lstat(path, &status) == 0, UInt64(status.st_dev) == device, UInt64(status.st_ino) == inode
            else { return }
            _ = unsafe unlink(path)
        }
    }

    /// Removes the file that an earlier server left at a path, if there is one.
    ///
    /// - Throws: `EADDRINUSE` if a process answers at the path, `ENOTSOCK` if the file is no socket.
    static func removeStale(at path: String) throws(LoopError) {
        let kind: mode_t
        do throws(LoopError) {
            kind = try status(of: path).st_mode & S_IFMT
        } catch {
            guard error.code == -ENOENT else { throw error }
            return
        }
        guard kind == S_IFSOCK else { throw LoopError(call: "bind \(path)", code: -ENOTSOCK) }
        var address = try SocketAddress(path: path)
        let descriptor = try ListeningSocket.unixSocket(for: path)
        defer { Glibc.close(descriptor) }
        guard address.connect(descriptor) != 0 else { throw LoopError(call: "bind \(path)", code: -EADDRINUSE) }
        switch errno {
        case ECONNREFUSED: try checkErrno(unsafe unlink(path), "unlink \(path)")
        // The process has so many waiting connections, or takes other messages than a stream.
        case EAGAIN, EPROTOTYPE: throw LoopError(call: "bind \(path)", code: -EADDRINUSE)
        case ENOENT: return
        default: throw LoopError.last("connect \(path)")
        }
    }

    private static func status(of path: String) throws(LoopError) -> stat {
        var status = stat()
        try checkErrno(unsafe lstat(path, &status), "lstat \(path)")
        return status
    }
}
