internal import CLibuv

/// The unsent bytes of one connection, in their order.
///
/// The loop passes one part after the other to the kernel. The bytes of a part that the kernel does not take are in
/// flight: libuv writes them when the socket has room.
@safe
struct WriteQueue: ~Copyable {
    /// The request; the first field, so that a pointer from libuv is a pointer to the queue.
    var request = unsafe uv_write_t()
    /// The number of bytes at the start of the queue that libuv is writing.
    var inFlight = 0
    /// The last time when the kernel took bytes, in milliseconds of the loop's clock.
    var lastTaken: UInt64
    /// The number of bytes in flight that were left at the last check.
    var leftInFlight = 0
    /// True if the connection is in the loop's list of connections with a due part.
    var isDue = false
    /// The number of all bytes, including those in flight.
    private(set) var count = 0
    /// The blocks, held until their last byte is removed, so that their memory is valid while libuv writes them.
    private var blocks: [SharedBytes] = []
    /// The number of removed bytes of the first block.
    private var start = 0
    /// Small pieces after the blocks, which become a block before they are written.
    private var tail: [UInt8] = []
    /// The account of copied bytes.
    private let account: SharedBytes.Account?

    /// The size from which a piece is a separate block.
    private static let blockBytesMin = 16_384
    /// The size below which a shared block is copied, so that a write has few pieces.
    private static let sharedBytesMin = 4_096
    /// The maximum number of pieces of one write.
    static let piecesMax = 64

    /// Makes an empty queue; the account counts the copied bytes.
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

    /// Adds the block's bytes from `start` on; the bytes of a small block are copied.
    mutating func append(_ block: SharedBytes, from start: Int) {
        let rest = block.count - start
        guard rest >= Self.sharedBytesMin else { return block.withBytes { append($0.extracting(start...)) } }
        closeTail()
        count += rest
        blocks.append(start == 0 ? block : SharedBytes(start..<block.count, of: block))
    }

    /// Removes the first bytes, which were sent.
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

    /// Calls `body` with the first bytes, as buffers for libuv.
    ///
    /// - Parameters:
    ///   - bytesMax: The maximum number of bytes.
    ///   - body: Writes the buffers, and returns a code of libuv.
    /// - Returns: The number of bytes that `body` was called with, and its code.
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
    /// Returns the bytes in a range, as a buffer for libuv.
    // SAFETY: libuv's buffers are mutable because reads use the same type. A write only reads them, while a holder
    // keeps this object.
    func buffer(_ range: Range<Int>) -> uv_buf_t {
        let first = unsafe UnsafeMutableRawPointer(mutating: base + range.lowerBound)
        return unsafe uv_buf_t(base: first.assumingMemoryBound(to: CChar.self), len: range.count)
    }
}
