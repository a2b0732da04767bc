internal import CLibuv

/// The bytes that one connection still has to send, in their order.
///
/// The loop gives the kernel one part after the other. What the kernel does not take of a part is in flight: libuv writes it once the
/// socket has room.
@safe
struct WriteQueue: ~Copyable {
    /// First, so that a pointer libuv gives back is a pointer to the queue.
    var request = unsafe uv_write_t()
    /// How many of the first bytes libuv is writing.
    var inFlight = 0
    /// When the kernel took some of them last, in milliseconds of the loop's clock.
    var lastTaken: UInt64
    /// How many of those in flight were left when that was looked at last.
    var leftInFlight = 0
    /// Whether the connection is in the loop's list of those whose next part is due.
    var isDue = false
    /// All bytes, those in flight included.
    private(set) var count = 0
    /// Held until their last byte is removed, so that they stay where they are while libuv writes them.
    private var blocks: [SharedBytes] = []
    /// How many bytes of the first block were removed.
    private var start = 0
    /// Small pieces behind the blocks, which become a block before they are written.
    private var tail: [UInt8] = []
    /// Counts what is copied.
    private let account: SharedBytes.Account?

    /// A piece from this size on is a block of its own.
    private static let blockBytesMin = 16_384
    /// A shared block below this size is copied: a write has few pieces.
    private static let sharedBytesMin = 4_096
    /// The most pieces of one write.
    static let piecesMax = 64

    /// A queue with nothing; the account counts the bytes that are copied.
    init(now: UInt64, account: SharedBytes.Account?) {
        lastTaken = now
        self.account = account
    }

    /// Copies the bytes to the end.
    mutating func append(_ bytes: Span<UInt8>) {
        count += bytes.count
        guard bytes.count < Self.blockBytesMin else {
            closeTail()
            return blocks.append(SharedBytes(bytes, account: account))
        }
        unsafe bytes.withUnsafeBytes { unsafe tail.append(contentsOf: $0) }
        if tail.count >= Self.blockBytesMin { closeTail() }
    }

    /// Holds the block's bytes from `start` on behind the others; those of a small block are copied.
    mutating func append(_ block: SharedBytes, from start: Int) {
        let rest = block.count - start
        guard rest >= Self.sharedBytesMin else { return block.withBytes { append($0.extracting(start...)) } }
        closeTail()
        count += rest
        blocks.append(start == 0 ? block : SharedBytes(start..<block.count, of: block))
    }

    /// Forgets the first bytes, which were sent.
    mutating func remove(_ sent: Int) {
        count -= sent
        start += sent
        var gone = 0
        while gone < blocks.count, start >= blocks[gone].count {
            start -= blocks[gone].count
            gone += 1
        }
        blocks.removeFirst(gone)
    }

    /// Calls `body` with the first bytes, as libuv takes them.
    ///
    /// - Parameters:
    ///   - bytesMax: The most bytes.
    ///   - body: Gives a code of libuv.
    /// - Returns: How many bytes `body` was called with, and its code.
    mutating func withFirst(
        _ bytesMax: Int,
        _ body: (_ buffers: UnsafeMutablePointer<uv_buf_t>?, _ count: UInt32) -> Int32
    ) -> (count: Int, status: Int32) {
        closeTail()
        let (blocks, first) = (blocks, start)
        return unsafe withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: Self.piecesMax) { buffers in
            var (count, pieces) = (0, 0)
            for (index, block) in blocks.prefix(Self.piecesMax).enumerated() where count < bytesMax {
                let start = index == 0 ? first : 0
                let end = min(block.count, start + bytesMax - count)
                unsafe buffers.initializeElement(at: pieces, to: block.buffer(start..<end))
                count += end - start
                pieces += 1
            }
            return (count, unsafe body(buffers.baseAddress, UInt32(pieces)))
        }
    }

    private mutating func closeTail() {
        guard !tail.isEmpty else { return }
        blocks.append(SharedBytes(tail, account: account))
        tail = []
    }
}

extension SharedBytes {
    /// The bytes in a range, as libuv takes them.
    // SAFETY: libuv's buffers are mutable for reading's sake; writing only reads them, while somebody holds this.
    func buffer(_ range: Range<Int>) -> uv_buf_t {
        let first = unsafe UnsafeMutableRawPointer(mutating: base + range.lowerBound)
        return unsafe uv_buf_t(base: first.assumingMemoryBound(to: CChar.self), len: range.count)
    }
}
