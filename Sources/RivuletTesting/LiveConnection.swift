import Foundation

/// A socket with a thread of its own that reads it; tests have few sockets.
final class LiveConnection: TestConnection {
    private let socket: FileHandle
    private var bytes: AsyncStream<[UInt8]>.Iterator

    /// Connects.
    ///
    /// - Throws: ``TestClientError`` with the system's error number.
    init(port: UInt16) throws(TestClientError) {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw TestClientError("no socket: errno \(errno)") }
        let socket = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafePointer(to: &address) { address in
            // SAFETY: a `sockaddr_in` begins like every `sockaddr`; the call reads `length` bytes of it.
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, length) }
        }
        guard status == 0 else { throw TestClientError("the connection to port \(port) failed: errno \(errno)") }
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        self.socket = socket
        bytes = stream.makeAsyncIterator()
        Thread.detachNewThread {
            while let bytes = Self.read(socket.fileDescriptor) { continuation.yield(bytes) }
            continuation.finish()
        }
    }

    /// Waits for bytes; returns nil when the connection has ended or was reset.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        // A read by the file handle would wait until the buffer is full; `recv` returns the bytes that have arrived.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            // SAFETY: at most as many bytes are written as the buffer has.
            count = unsafe max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        return bytes.isEmpty ? nil : bytes
    }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(socket.fileDescriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            // The server has closed the connection. Its last bytes are still read.
            guard sent > 0 else { return }
            rest.removeFirst(sent)
        }
    }

    nonisolated(nonsending) func receive() async -> [UInt8]? { await bytes.next(isolation: #isolation) }

    func close() { _ = shutdown(socket.fileDescriptor, Int32(SHUT_RDWR)) }
}
