// Simulates a child process that holds this process's open files while it is being spawned.

import Glibc

/// Copies this process's descriptors of a file.
///
/// The caller closes the copies.
public func descriptorCopies(of path: String) -> [Int32] {
    var file = stat()
    guard unsafe stat(path, &file) == 0 else { return [] }
    let descriptors = (0..<Int32(65_536)).filter { descriptor in
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_ino == file.st_ino && status.st_dev == file.st_dev
    }
    // The copies are made after all descriptors were found. Otherwise a copy with a higher number would be found and
    // copied without end.
    return descriptors.map { dup($0) }
}
