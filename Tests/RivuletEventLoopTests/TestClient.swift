// Owns the client side of the tests: a blocking socket with calls that fail after ten seconds.

import Glibc

/// A blocking TCP client.
final class TestClient {
    struct Failure: Error {
        let call: String
        let number: Int32
    }

    private let descriptor: Int32

    /// Connects to a port of 127.0.0.1, or of ::1.
    init(port: UInt16, isV6: Bool = false, receiveBufferBytes: Int32? = nil) throws {
        descriptor = socket(isV6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if let receiveBufferBytes { try set(SO_RCVBUF, receiveBufferBytes) }
        try set(SO_RCVTIMEO, timeval(tv_sec: 10, tv_usec: 0))
        try set(SO_SNDTIMEO, timeval(tv_sec: 10, tv_usec: 0))
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        v4.sin_port = port.bigEndian
        v4.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_port = port.bigEndian
        // SAFETY: the last of the 16 bytes of ::1 is 1.
        unsafe withUnsafeMutableBytes(of: &v6.sin6_addr) { unsafe $0[15] = 1 }
        try check(isV6 ? connect(to: &v6) : connect(to: &v4), "connect")
    }

    deinit { close(descriptor) }

    /// Sends all of `bytes`.
    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            // SAFETY: the pointer is to the array's elements from `sent` on, and is valid within this call.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            try check(Int32(truncatingIfNeeded: count), "send")
            sent += count
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Up to `count` bytes; none at the end of the stream.
    func receive(upTo count: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        // SAFETY: at most `count` bytes are written to the array's elements, within this call.
        let received = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, count, 0) }
        try check(Int32(truncatingIfNeeded: received), "recv")
        return Array(buffer[..<received])
    }

    /// Exactly `count` bytes, or fewer if the stream ends.
    func receive(exactly count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let part = try receive(upTo: count - bytes.count)
            if part.isEmpty { break }
            bytes += part
        }
        return bytes
    }

    /// Everything up to the end of the stream.
    func receiveAll() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let part = try receive(upTo: 65_536)
            if part.isEmpty { return bytes }
            bytes += part
        }
    }

    /// Ends this side.
    ///
    /// The other side can still send.
    func end() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes with a reset instead of an orderly end, when this object is released.
    func resetOnClose() throws { try set(SO_LINGER, linger(l_onoff: 1, l_linger: 0)) }

    private func connect<Address>(to address: inout Address) -> Int32 {
        // SAFETY: the pointer is to an address of the given size, and is valid within this call.
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe Glibc.connect(
                descriptor,
                UnsafeRawPointer(pointer).assumingMemoryBound(to: sockaddr.self),
                socklen_t(MemoryLayout<Address>.size)
            )
        }
    }

    private func set<Value>(_ option: Int32, _ value: Value) throws {
        var value = value
        // SAFETY: the kernel reads the given number of bytes within this call.
        let status = unsafe withUnsafePointer(to: &value) { pointer in
            unsafe setsockopt(descriptor, SOL_SOCKET, option, pointer, socklen_t(MemoryLayout<Value>.size))
        }
        try check(status, "setsockopt \(option)")
    }

    private func check(_ result: Int32, _ call: String) throws {
        if result < 0 { throw Failure(call: call, number: errno) }
    }
}
