internal import Glibc

/// Disk space that is kept in a file, so that deletions have room on a full disk.
///
/// The file stays when the process ends, so a server that starts on a full disk has its reserve. Only one thread uses
/// the reserve. Source: <https://man7.org/linux/man-pages/man3/posix_fallocate.3.html>
struct DiskReserve {
    private let path: String
    private let byteCount: Int
    /// True if the space of the file is allocated.
    private(set) var isHeld = false

    /// The suffix of the file's name, after the name of the database.
    static let suffix = ".reserve"

    /// A reserve of no bytes has no file, and is never held.
    init(of databasePath: String, byteCount: Int) {
        path = databasePath + Self.suffix
        self.byteCount = byteCount
    }

    /// Allocates the space, unless it is allocated already; returns false if the disk does not have the space.
    mutating func take() -> Bool {
        guard byteCount > 0, !isHeld else { return true }
        isHeld = allocate(byteCount)
        // A partial allocation is released.
        if !isHeld { cut() }
        return isHeld
    }

    /// Gives the space back to the disk; returns false if no space was held.
    mutating func release() -> Bool {
        guard isHeld else { return false }
        isHeld = false
        return cut()
    }

    /// Takes the reserve; returns true if the disk has the same amount of free space beside it.
    mutating func hasRoomBeside() -> Bool {
        guard byteCount > 0 else { return true }
        guard take() else { return false }
        let hasRoom = allocate(2 * byteCount)
        _ = unsafe truncate(path, off_t(byteCount))
        return hasRoom
    }

    private func allocate(_ byteCount: Int) -> Bool {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        // Sets the bits that the umask cleared.
        _ = fchmod(descriptor, 0o600)
        return posix_fallocate(descriptor, 0, off_t(byteCount)) == 0
    }

    @discardableResult
    private func cut() -> Bool { unsafe truncate(path, 0) == 0 }
}
