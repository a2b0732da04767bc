import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The size and the times of a file; two equal stamps in a row mean that the file has stopped changing.
struct FileStamp: Hashable, Sendable {
    let bytes: Int
    let inode: UInt64
    /// The time of the last write of the content, in nanoseconds since 1970.
    let modified: Int64
    /// The time of the last change of content, name or mode; a file that becomes readable gets another stamp.
    let changed: Int64

    /// The stamp of a regular file; nil for anything else.
    ///
    /// Links are not followed.
    init?(path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(status)
    }

    /// The stamp of a regular file, or of the file to which a link leads; nil for anything else.
    init?(following path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        bytes = Int(status.st_size)
        inode = UInt64(status.st_ino)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    init(bytes: Int, inode: UInt64 = 0, modified: Int64, changed: Int64 = 0) {
        (self.bytes, self.inode, self.modified, self.changed) = (bytes, inode, modified, changed)
    }

    /// The stamps of all files below the folder, by their paths below it; names that begin with a dot are left out.
    ///
    /// - Throws: when the folder cannot be read.
    static func all(below folder: String) throws(ServerError) -> [String: FileStamp] {
        try checkFolder(folder)
        do {
            var stamps: [String: FileStamp] = [:]
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder) where !isHidden(path) {
                stamps[path] = FileStamp(path: folder + "/" + path)
            }
            return stamps
        } catch {
            throw ServerError("the public folder \(folder) cannot be read: \(error)")
        }
    }

    /// - Throws: when there is no folder at this path.
    static func checkFolder(_ folder: String) throws(ServerError) {
        var status = stat()
        guard unsafe lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw ServerError("the public folder \(folder) is not a folder; name another with --public")
        }
    }

    private static func isHidden(_ path: String) -> Bool {
        path.utf8.first == UInt8(ascii: ".") || path.contains("/.")
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
