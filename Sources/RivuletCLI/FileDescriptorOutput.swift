#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A descriptor to write text to, for what is said before there is a log and after it.
struct FileDescriptorOutput {
    static let standardError = FileDescriptorOutput(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// Writes the text; a descriptor that takes nothing leaves nowhere to say so.
    func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }
}
