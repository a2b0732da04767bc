/// Bytes in memory that libuv may read.
@safe
struct ByteBlock: ~Copyable {
    // SAFETY: `base` has `capacity` bytes of which `count` are initialised; freed in `deinit`.
    private(set) var base: UnsafeMutableRawPointer?
    private(set) var count = 0
    private var capacity = 0

    init() { unsafe base = nil }

    deinit { unsafe base?.deallocate() }

    /// Copies `bytes` to the end, doubling the memory when there is not enough.
    mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            if capacity - count < source.count { grow(to: max(count + source.count, 2 * capacity)) }
            unsafe base?.advanced(by: count).copyMemory(from: start, byteCount: source.count)
            count += source.count
        }
    }

    /// Forgets the bytes and keeps the memory.
    mutating func removeAll() { count = 0 }

    private mutating func grow(to newCapacity: Int) {
        let new = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
        if let old = unsafe base {
            unsafe new.copyMemory(from: old, byteCount: count)
            unsafe old.deallocate()
        }
        unsafe base = new
        capacity = newCapacity
    }
}
