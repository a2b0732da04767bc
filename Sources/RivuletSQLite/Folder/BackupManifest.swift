internal import Glibc
internal import RivuletSessions

/// The files of a backup, with their sizes and checksums.
struct BackupManifest: Equatable {
    /// A file of the backup, with its path relative to the backup.
    struct File: Equatable {
        let path: String
        let byteCount: Int
        let checksum: UInt64
    }

    static let name = "rivulet.backup"

    var files: [File]

    /// The text of the manifest: a line for each file, and a checksum of the lines.
    var text: String {
        let lines = Self.head + files.map { "file \($0.byteCount) \($0.checksum) \($0.path)\n" }.joined()
        return lines + "end \(Self.checksum(of: lines))\n"
    }

    private static let head = "rivulet backup 1\n"

    init(files: [File]) {
        self.files = files
    }

    /// Reads the text of a manifest; nil if the text is damaged or of a newer version.
    init?(_ text: String) {
        files = []
        for line in text.split(separator: "\n") where line.hasPrefix("file ") {
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.count == 4, let bytes = Int(words[1]), let checksum = UInt64(words[2]) else { return nil }
            files.append(File(path: String(words[3]), byteCount: bytes, checksum: checksum))
        }
        guard self.text == text else { return nil }
    }

    /// True if the text of the manifest gives the same files when it is read again.
    var isReadable: Bool { Self(text) == self }

    private static func checksum(of text: String) -> UInt64 {
        unsafe text.utf8.span.bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: 0) }
    }
}

/// Functions that read and write whole files.
enum BackupFile {
    private static let pieceBytes = 1 << 20

    /// Reads a file piece by piece; returns its size and its checksum.
    static func read(
        _ path: String,
        _ body: ([UInt8]) throws(StorageError) -> Void = { (_) throws(StorageError) in }
    ) throws(StorageError) -> (byteCount: Int, checksum: UInt64) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DataFolder.failure("cannot open \(path)", errno) }
        defer { _ = close(descriptor) }
        var piece = [UInt8](repeating: 0, count: pieceBytes)
        var (byteCount, checksum): (Int, UInt64) = (0, 0)
        while true {
            let count = try fill(&piece, from: descriptor, at: byteCount, path)
            guard count > 0 else { return (byteCount, checksum) }
            let bytes = count == piece.count ? piece : Array(piece[..<count])
            checksum = unsafe bytes.span.bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: checksum) }
            byteCount += count
            try body(bytes)
        }
    }

    /// Reads until the piece is full or the file ends, so that the checksum does not depend on the sizes of reads.
    static func fill(
        _ piece: inout [UInt8],
        from descriptor: Int32,
        at offset: Int,
        _ path: String
    ) throws(StorageError) -> Int {
        var filled = 0
        while filled < piece.count {
            let count = unsafe piece.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    descriptor,
                    buffer.baseAddress?.advanced(by: filled),
                    buffer.count - filled,
                    off_t(offset + filled)
                )
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw DataFolder.failure("cannot read \(path)", errno) }
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Writes a new file that only its owner can read.
    ///
    /// The file is on disk when this returns.
    static func write(
        _ path: String,
        _ body: ((([UInt8]) throws(StorageError) -> Void)) throws(StorageError) -> Void
    ) throws(StorageError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DataFolder.failure("cannot make the file \(path)", errno) }
        defer { _ = close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw DataFolder.failure("cannot make the file \(path)", errno) }
        try body { (bytes) throws(StorageError) in
            var start = 0
            while start < bytes.count {
                let count = unsafe bytes.withUnsafeBytes { buffer in
                    unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start)
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw DataFolder.failure("cannot write \(path)", errno) }
                start += count
            }
        }
        guard fsync(descriptor) == 0 else { throw DataFolder.failure("cannot sync \(path)", errno) }
    }

    /// Copies a file; returns its size and its checksum.
    static func copy(_ path: String, to target: String) throws(StorageError) -> (byteCount: Int, checksum: UInt64) {
        var result: (byteCount: Int, checksum: UInt64) = (0, 0)
        try write(target) { (put) throws(StorageError) in result = try read(path, put) }
        return result
    }

    static func rename(_ old: String, to new: String) throws(StorageError) {
        guard unsafe Glibc.rename(old, new) == 0 else { throw DataFolder.failure("cannot rename \(old)", errno) }
    }
}
