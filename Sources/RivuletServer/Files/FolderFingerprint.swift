#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One number over the names, sizes and times of everything below a folder, without names that begin with a dot.
///
/// If a scan finds the same number as the last scan, there is nothing to do. A scan costs one system call and a few
/// hundred instructions for each file, and makes no strings of names. Links are not followed.
struct FolderFingerprint: Equatable, Sendable {
    private let value: Int

    /// Computes the fingerprint of the folder as it is now; nil if the folder or one below it cannot be read.
    init?(of folder: String) {
        var hasher = Hasher()
        let descriptor = unsafe open(folder, Self.flags)
        guard descriptor >= 0, Self.combine(folder: descriptor, into: &hasher) else { return nil }
        value = hasher.finalize()
    }

    private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    /// Takes ownership of the descriptor and closes it.
    private static func combine(folder descriptor: Int32, into hasher: inout Hasher) -> Bool {
        guard let stream = unsafe fdopendir(descriptor) else {
            close(descriptor)
            return false
        }
        defer { unsafe closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let isRead = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)) {
                    name in
                    unsafe combine(name, in: descriptor, into: &hasher)
                }
            }
            if !isRead { return false }
        }
        // Marks the end of a folder, so that two sibling folders differ from nested ones.
        hasher.combine(UInt8(0))
        return true
    }

    private static func combine(_ name: UnsafePointer<CChar>, in folder: Int32, into hasher: inout Hasher) -> Bool {
        guard unsafe name.pointee != CChar(UInt8(ascii: ".")) else { return true }
        var status = stat()
        // A file that was removed after its name was read is treated as absent; the next scan does not see it.
        guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return errno == ENOENT }
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer(start: name, count: strlen(name)))
        hasher.combine(status.st_mode)
        hasher.combine(status.st_ino)
        guard status.st_mode & S_IFMT != S_IFDIR else {
            let descriptor = unsafe openat(folder, name, flags)
            return descriptor >= 0 && combine(folder: descriptor, into: &hasher)
        }
        hasher.combine(FileStamp(status))
        return true
    }
}
