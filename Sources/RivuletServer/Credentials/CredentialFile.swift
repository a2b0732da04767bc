import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The content of a file with keys or rules.
package struct CredentialFile {
    /// The most bytes that are read; each document has a lower limit of its own.
    static let bytesMax = 1_048_577

    package let path: String
    package let bytes: [UInt8]
    private let mode: mode_t

    /// Reads a regular file.
    ///
    /// - Throws: a `ServerError` with the path, the reason and the remedy.
    package init(_ path: String) throws(ServerError) {
        self.path = path
        // A pipe without a writer must not stop the start.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        defer { _ = close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.failure(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ServerError("\(path) is no regular file; name a file with the keys or rules")
        }
        guard status.st_size < Self.bytesMax else {
            throw ServerError(
                "\(path) has \(status.st_size) bytes; a file of keys or rules has at most \(Self.bytesMax - 1)"
            )
        }
        mode = status.st_mode
        bytes = try Self.read(descriptor, path)
    }

    /// True if the content is a public key.
    var isPublicKey: Bool {
        String(decoding: bytes.prefix(4_096), as: UTF8.self).contains("-----BEGIN PUBLIC KEY-----")
    }

    /// Checks that only the file's owner may read it.
    package func checkIsPrivate() throws(ServerError) {
        guard mode & 0o077 == 0 else {
            throw ServerError("others may read \(path), which has secrets; run: chmod 600 \(path)")
        }
    }

    private static func read(_ descriptor: Int32, _ path: String) throws(ServerError) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < bytesMax {
            let count = unsafe systemRead(descriptor, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path, errno) }
            guard count > 0 else { break }
            bytes += block[..<count]
        }
        return bytes
    }

    private static func failure(_ path: String, _ code: Int32) -> ServerError {
        let reason = unsafe String(cString: strerror(code))
        return ServerError(
            "cannot read \(path): \(reason) (errno \(code)); name another file, or let this server's user read it",
            status: code
        )
    }
}

/// `read(2)`, which the type's own `read` would hide.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    unsafe read(descriptor, bytes, count)
}
