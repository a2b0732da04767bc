internal import CLibuv

/// The bytes that one connection still has to send: one gather-write under way, and all that came after it.
@safe
struct WriteQueue: ~Copyable {
    /// First, so that a pointer libuv gives back is a pointer to the queue.
    var request = unsafe uv_write_t()
    /// What libuv is writing first; neither moved nor changed until it says so.
    var inFlight = ByteBlock()
    /// What it writes after that; held until it says so.
    private var shared: [SharedBytes] = []
    /// How many bytes of the first of them were sent before.
    private var sharedStart = 0
    /// What is written next, as one write.
    var pending = ByteBlock()

    /// Puts blocks in flight behind the bytes that are, but for so many bytes of them that the kernel has already.
    mutating func hold(_ blocks: ArraySlice<SharedBytes>, from sent: Int) {
        var sent = sent
        for block in blocks {
            guard sent < block.count else {
                sent -= block.count
                continue
            }
            if shared.isEmpty { sharedStart = sent }
            sent = 0
            shared.append(block)
        }
    }

    /// Puts what is pending in flight, all bytes in flight having been sent; false when nothing is.
    mutating func moveOn() -> Bool {
        inFlight.removeAll()
        shared = []
        sharedStart = 0
        swap(&inFlight, &pending)
        return inFlight.count > 0
    }

    /// Calls `body` with what is in flight, as libuv takes it.
    func withBuffers(_ body: (_ buffers: UnsafeMutablePointer<uv_buf_t>?, _ count: UInt32) -> Int32) -> Int32 {
        unsafe withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: shared.count + 1) { buffers in
            var count = 0
            if inFlight.count > 0 {
                let start = unsafe inFlight.base?.assumingMemoryBound(to: CChar.self)
                unsafe buffers.initializeElement(at: 0, to: uv_buf_t(base: start, len: inFlight.count))
                count = 1
            }
            for (index, block) in shared.enumerated() {
                let start = index == 0 ? sharedStart : 0
                unsafe buffers.initializeElement(at: count, to: block.buffer(from: start))
                count += 1
            }
            return unsafe body(buffers.baseAddress, UInt32(count))
        }
    }
}

extension SharedBytes {
    /// The bytes from an offset on, as libuv takes them.
    // SAFETY: libuv's buffers are mutable for reading's sake; writing only reads them, while somebody holds this.
    func buffer(from start: Int) -> uv_buf_t {
        let first = unsafe UnsafeMutableRawPointer(mutating: base + start)
        return unsafe uv_buf_t(base: first.assumingMemoryBound(to: CChar.self), len: count - start)
    }
}
