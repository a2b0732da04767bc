// Makes what a child process has of this one's files while it is being spawned.

import Glibc

/// Copies this process's descriptors of a file; the caller closes them.
public func descriptorCopies(of path: String) -> [Int32] {
    var file = stat()
    guard unsafe stat(path, &file) == 0 else { return [] }
    let descriptors = (0..<Int32(65_536)).filter { descriptor in
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_ino == file.st_ino && status.st_dev == file.st_dev
    }
    // Copied once all are found: a copy with a higher number than its original would be found and copied too, without end.
    return descriptors.map { dup($0) }
}
