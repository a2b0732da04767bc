internal import CLibuv
internal import Glibc

/// An address in the kernel's format, large enough for IPv4 and IPv6.
struct SocketAddress {
    private var storage = sockaddr_storage()

    /// Makes space for an address.
    init() {}

    /// Makes the address of `host`, which is an IPv4 or IPv6 address or "localhost" (127.0.0.1).
    ///
    /// - Throws: `EINVAL` for any other host, because names are not resolved.
    init(host: String, port: UInt16, endpoint: String) throws(LoopError) {
        let numeric = host == "localhost" ? "127.0.0.1" : host
        var v4 = sockaddr_in()
        if unsafe uv_ip4_addr(numeric, Int32(port), &v4) == 0 {
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v4, as: sockaddr_in.self) }
            return
        }
        var v6 = sockaddr_in6()
        try check(unsafe uv_ip6_addr(numeric, Int32(port), &v6), "the host of \(endpoint) is not an IP address")
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v6, as: sockaddr_in6.self) }
    }

    /// Makes the address of a Unix socket; `path` has at most `pathBytesMax` bytes.
    ///
    /// - Throws: `ENAMETOOLONG` for a longer path, `EINVAL` for an empty one or for one with a zero byte.
    init(path: String) throws(LoopError) {
        let bytes = path.utf8
        guard bytes.count <= Self.pathBytesMax else { throw LoopError(call: "bind \(path)", code: -ENAMETOOLONG) }
        guard !bytes.isEmpty, !bytes.contains(0) else { throw LoopError(call: "bind \(path)", code: -EINVAL) }
        var unix = sockaddr_un()
        unix.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &unix.sun_path) { unsafe $0.copyBytes(from: bytes) }
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: unix, as: sockaddr_un.self) }
    }

    /// The most bytes of a path, without the zero byte at its end.
    ///
    /// Source: unix(7).
    static let pathBytesMax = MemoryLayout<sockaddr_un>.size - MemoryLayout<sa_family_t>.size - 1

    /// Copies an address that a lookup has found; nil if it is neither IPv4 nor IPv6.
    init?(_ found: addrinfo) {
        guard unsafe found.ai_family == AF_INET || found.ai_family == AF_INET6 else { return nil }
        let count = unsafe Int(found.ai_addrlen)
        guard let source = unsafe found.ai_addr, count <= MemoryLayout<sockaddr_storage>.size else { return nil }
        unsafe withUnsafeMutableBytes(of: &storage) { target in
            unsafe target.copyMemory(from: UnsafeRawBufferPointer(start: source, count: count))
        }
    }

    /// Reads the address that a socket is bound to.
    init(localOf descriptor: Int32, _ call: @autoclosure () -> String) throws(LoopError) {
        let status = unsafe withPointer { address, count in unsafe getsockname(descriptor, address, &count) }
        try checkErrno(status, call())
    }

    /// `AF_INET`, `AF_INET6` or `AF_UNIX`.
    var family: Int32 { Int32(storage.ss_family) }

    /// The address as a value.
    var peer: PeerAddress {
        unsafe withUnsafeBytes(of: storage) { bytes in
            if family == AF_UNIX { return PeerAddress(ip: .unixSocket, port: 0) }
            if family == AF_INET {
                let address = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
                return PeerAddress(
                    ip: PeerAddress.IP(v4: UInt32(bigEndian: address.sin_addr.s_addr)),
                    port: UInt16(bigEndian: address.sin_port)
                )
            }
            let address = unsafe bytes.loadUnaligned(as: sockaddr_in6.self)
            let (high, low) = unsafe withUnsafeBytes(of: address.sin6_addr) {
                unsafe ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
            return PeerAddress(
                ip: PeerAddress.IP(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low)),
                port: UInt16(bigEndian: address.sin6_port)
            )
        }
    }

    /// Binds a socket to this address.
    mutating func bind(_ descriptor: Int32, _ call: @autoclosure () -> String) throws(LoopError) {
        let count = byteCount
        let status = unsafe withPointer { address, _ in unsafe Glibc.bind(descriptor, address, count) }
        try checkErrno(status, call())
    }

    /// Connects a socket to this address; returns -1 and sets `errno` as connect(2).
    mutating func connect(_ descriptor: Int32) -> Int32 {
        let count = byteCount
        return unsafe withPointer { address, _ in unsafe Glibc.connect(descriptor, address, count) }
    }

    private var byteCount: socklen_t {
        switch family {
        case AF_INET: socklen_t(MemoryLayout<sockaddr_in>.size)
        case AF_INET6: socklen_t(MemoryLayout<sockaddr_in6>.size)
        default: socklen_t(MemoryLayout<sockaddr_un>.size)
        }
    }

    /// Accepts a connection and stores its address; returns -1 and sets `errno` as accept4(2).
    mutating func accept(_ descriptor: Int32) -> Int32 {
        unsafe withPointer { address, count in
            unsafe rivulet_accept(descriptor, address, &count)
        }
    }

    /// Calls `body` with the address and its size.
    // SAFETY: the pointer is to `storage`, has its size, and is used within the call only.
    private mutating func withPointer(
        _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32
    ) -> Int32 {
        var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, &count) }
        }
    }
}
