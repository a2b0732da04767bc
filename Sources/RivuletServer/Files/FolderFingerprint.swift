#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One number over the names, sizes and times of everything below a folder but names that begin with a dot.
///
/// A look that finds the number of the look before has nothing to do: it costs a call of the system and some hundred instructions for each
/// file, and makes no text of names. Links are not followed.
struct FolderFingerprint: Equatable, Sendable {
    private let value: Int

    /// The fingerprint of the folder as it is now; nil when the folder or one below it cannot be read.
    init?(of folder: String) {
        var hasher = Hasher()
        let descriptor = unsafe open(folder, Self.flags)
        guard descriptor >= 0, Self.combine(folder: descriptor, into: &hasher) else { return nil }
        value = hasher.finalize()
    }

    private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    /// Takes the descriptor, and closes it.
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
        // Two folders side by side are not one within the other.
        hasher.combine(UInt8(0))
        return true
    }

    private static func combine(_ name: UnsafePointer<CChar>, in folder: Int32, into hasher: inout Hasher) -> Bool {
        guard unsafe name.pointee != CChar(UInt8(ascii: ".")) else { return true }
        var status = stat()
        // A file that is gone since its name was read is one that the next look does not see.
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
