/// The search for the empty line that ends a head; it refuses invalid bytes and heads over the limits.
///
/// It reads each byte once, however the head is divided. So a peer that sends single bytes costs no more than any
/// other. Source: RFC 9112 sections 2.2, 3, 5.
struct HTTPHeadScanner: Sendable {
    /// The number of complete lines, including the request line.
    private(set) var lineCount = 0
    /// The start of the head, after the one empty line that a peer may send before it.
    private var start = 0
    private var offset = 0
    private var lineStart = 0
    /// The limit that the head has exceeded; its lines are still read, because its `Origin` may follow.
    private var excess: Excess?

    /// A limit beyond which the reading of the head continues.
    private enum Excess {
        case target
        case lineCount
    }

    /// The range of the head that was read.
    var read: Range<Int> { start..<offset }

    /// Returns the error of a head that exceeds a limit; nil if the head exceeds none so far.
    ///
    /// The error is due when the head ends, or when no more bytes come.
    func error(_ limits: HTTPLimits) -> HTTPError? {
        switch excess {
        case nil: nil
        case .target: .targetTooLong(limits)
        case .lineCount:
            HTTPError(
                .requestHeaderFieldsTooLarge,
                "The head has more than \(limits.headerCountMax) header lines. Nothing has changed. Send fewer."
            )
        }
    }

    /// Continues where the last scan ended; `bytes` must begin with the bytes of that scan.
    ///
    /// - Returns: The range of the head in `bytes`, including its last empty line; nil if more bytes are needed.
    /// - Throws: 400, 414 or 431. A target that is too long, or too many lines, are refused when the head ends or the
    ///   allowed bytes are used up.
    mutating func scan(_ bytes: Span<UInt8>, _ limits: HTTPLimits) throws(HTTPError) -> Range<Int>? {
        do throws(HTTPError) {
            let head = try findEnd(bytes, limits)
            if head != nil, let error = error(limits) { throw error }
            return head
        } catch {
            throw self.error(limits) ?? error
        }
    }

    private mutating func findEnd(_ bytes: Span<UInt8>, _ limits: HTTPLimits) throws(HTTPError) -> Range<Int>? {
        while offset < bytes.count {
            let end = start + bytesMax(limits)
            let bound = min(bytes.count, end)
            offset = Self.endOfText(bytes, from: offset, to: bound)
            guard offset < bytes.count else { break }
            guard offset < end else {
                try pass(limits)
                continue
            }
            guard bytes[offset] == ASCII.carriageReturn else { throw error(of: bytes[offset]) }
            guard offset + 1 < bytes.count else { break }
            guard bytes[offset + 1] == ASCII.lineFeed else {
                throw .malformed("a carriage return in the head is not followed by a line feed")
            }
            offset += 2
            if offset > end { try pass(limits) }
            if try endLine(limits) { return start..<offset }
        }
        return nil
    }

    /// Returns the first index from `start` to `end` of a byte that is not text; `end` if there is none.
    ///
    /// It checks eight bytes at a time while all are printable ASCII, because it visits every byte of every request.
    private static func endOfText(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        // SAFETY: the raw bytes of a span of `UInt8` are the same initialized bytes.
        let raw = unsafe bytes.bytes
        let ones: UInt64 = 0x0101_0101_0101_0101
        let spaces: UInt64 = 0x2020_2020_2020_2020
        let highBits: UInt64 = 0x8080_8080_8080_8080
        var index = start
        while index + 8 <= end {
            // SAFETY: the load is bounds-checked, and any eight bytes are a number.
            let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            // If a byte is below space or above "~", its highest bit is set in at least one of the three words.
            guard (word | (word &- spaces) | (word &+ ones)) & highBits == 0 else { break }
            index += 8
        }
        while index < end, ASCII.isText(bytes[index]) { index += 1 }
        return index
    }

    /// Counts the line before `offset`; returns true if it is the empty line that ends the head.
    private mutating func endLine(_ limits: HTTPLimits) throws(HTTPError) -> Bool {
        let isEmpty = offset - lineStart == 2
        lineStart = offset
        if isEmpty && lineCount == 0 {
            guard start == 0 else { throw .malformed("more than one empty line comes before the request line") }
            start = offset
            return false
        }
        if isEmpty { return true }
        lineCount += 1
        if lineCount - 1 > limits.headerCountMax, excess == nil { excess = .lineCount }
        return false
    }

    /// Returns the maximum size of the head up to the end of the current line.
    private func bytesMax(_ limits: HTTPLimits) -> Int {
        guard lineCount == 0, excess == nil else { return limits.headerBytesMax }
        return min(limits.methodBytesMax + limits.targetBytesMax + " HTTP/1.1 \r\n".utf8.count, limits.headerBytesMax)
    }

    /// Records that the current line exceeds its limit.
    ///
    /// - Throws: 414 or 431 if the head exceeds its limit too.
    private mutating func pass(_ limits: HTTPLimits) throws(HTTPError) {
        guard lineCount == 0 else {
            throw HTTPError(
                .requestHeaderFieldsTooLarge,
                "The header block is longer than \(limits.headerBytesMax) bytes (headerBytesMax). Nothing has changed. Send a shorter one."
            )
        }
        guard bytesMax(limits) < limits.headerBytesMax else { throw .targetTooLong(limits) }
        excess = .target
    }

    private func error(of byte: UInt8) -> HTTPError {
        if byte == ASCII.lineFeed { return .malformed("a line of the head ends with a bare line feed") }
        let tlsHandshake: UInt8 = 0x16
        if byte == tlsHandshake && offset == 0 {
            return .malformed("this port speaks plain HTTP, and the peer began a TLS handshake")
        }
        return .malformed("the head contains a control byte")
    }
}
