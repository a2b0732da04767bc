/// The decoder of a chunked body; extensions and trailers are checked, bounded and dropped.
///
/// Source: RFC 9112 section 7.1.
struct HTTPChunkedDecoder: Sendable {
    private enum State: Sendable {
        /// The state while the digits of a chunk's size are read.
        case size(digitCount: Int)
        /// The state while extensions are read.
        case extensions(HTTPChunkExtensions)
        /// The state in which the line feed of a size line must follow.
        case sizeLineFeed
        /// The state while data is read.
        case data(remaining: Int)
        /// The state in which the carriage return after data must follow.
        case dataCarriageReturn
        /// The state in which the line feed after data must follow.
        case dataLineFeed
        /// The state in which a trailer line begins, or the empty line that ends the body.
        case trailerStart
        /// The state while a trailer's name is read.
        case trailerName
        /// The state while a trailer's value is read.
        case trailerValue
        /// The state in which the line feed of a trailer must follow.
        case trailerLineFeed
        /// The state in which the last line feed must follow.
        case lastLineFeed
        /// The state after the end of the body.
        case done
    }

    private var state = State.size(digitCount: 0)
    private var chunkBytes = 0
    private var extensionBytes = 0
    private var trailerBytes = 0

    /// Appends the data in `bytes` to `body`.
    ///
    /// - Returns: The number of `bytes` that belong to the body, if they complete it; nil if the body needs more bytes.
    /// - Throws: 400, 413 or 431.
    mutating func decode(
        _ bytes: Span<UInt8>,
        into body: inout [UInt8],
        _ limits: HTTPLimits
    ) throws(HTTPError) -> Int? {
        var offset = 0
        while offset < bytes.count {
            if case .data(let remaining) = state {
                let count = min(remaining, bytes.count - offset)
                body.append(copying: bytes.extracting(offset..<offset + count))
                offset += count
                state = count == remaining ? .dataCarriageReturn : .data(remaining: remaining - count)
                continue
            }
            state = try next(bytes[offset], bodyBytes: body.count, limits)
            offset += 1
            if case .done = state { return offset }
        }
        return nil
    }

    private mutating func next(
        _ byte: UInt8,
        bodyBytes: Int,
        _ limits: HTTPLimits
    ) throws(HTTPError) -> State {
        switch state {
        case .size(let digitCount):
            return try readSize(byte, digitCount, bodyBytes, limits)
        case .extensions(let extensions):
            return try readExtensions(byte, extensions, limits)
        case .sizeLineFeed:
            try require(byte, ASCII.lineFeed)
            return chunkBytes == 0 ? .trailerStart : .data(remaining: chunkBytes)
        case .dataCarriageReturn:
            guard byte == ASCII.carriageReturn else { throw .malformed("a chunk is longer than its size says") }
            return .dataLineFeed
        case .dataLineFeed:
            try require(byte, ASCII.lineFeed)
            chunkBytes = 0
            return .size(digitCount: 0)
        case .trailerStart, .trailerName, .trailerValue:
            return try readTrailer(byte, limits)
        case .trailerLineFeed:
            try require(byte, ASCII.lineFeed)
            return .trailerStart
        case .lastLineFeed:
            try require(byte, ASCII.lineFeed)
            return .done
        case .data, .done:
            preconditionFailure("a byte of data, or after the body, was read as framing")
        }
    }

    private mutating func readSize(
        _ byte: UInt8,
        _ digitCount: Int,
        _ bodyBytes: Int,
        _ limits: HTTPLimits
    ) throws(HTTPError) -> State {
        if let digit = ASCII.hexValue(byte) {
            let digitCountMax = 16
            guard digitCount < digitCountMax else { throw .malformed("a chunk size has more than 16 digits") }
            guard chunkBytes <= limits.bodyBytesMax >> 4 else { throw .tooLarge(limits) }
            chunkBytes = chunkBytes << 4 | Int(digit)
            guard chunkBytes <= limits.bodyBytesMax - bodyBytes else { throw .tooLarge(limits) }
            return .size(digitCount: digitCount + 1)
        }
        guard digitCount > 0 else { throw .malformed("a chunk does not begin with its size in hexadecimal digits") }
        switch byte {
        case ASCII.carriageReturn: return .sizeLineFeed
        case UInt8(ascii: ";"), ASCII.space, ASCII.tab: return try readExtensions(byte, HTTPChunkExtensions(), limits)
        default: throw .malformed("a chunk size is followed by something that is not an extension")
        }
    }

    private mutating func readExtensions(
        _ byte: UInt8,
        _ extensions: HTTPChunkExtensions,
        _ limits: HTTPLimits
    ) throws(HTTPError) -> State {
        extensionBytes += 1
        guard extensionBytes <= limits.chunkExtensionBytesMax else {
            throw .malformed("the chunk extensions are longer than \(limits.chunkExtensionBytesMax) bytes")
        }
        var extensions = extensions
        return try extensions.take(byte) ? .extensions(extensions) : .sizeLineFeed
    }

    private mutating func readTrailer(_ byte: UInt8, _ limits: HTTPLimits) throws(HTTPError) -> State {
        trailerBytes += 1
        guard trailerBytes <= limits.trailerBytesMax else {
            let detail = "the trailers are longer than \(limits.trailerBytesMax) bytes"
            throw HTTPError(.requestHeaderFieldsTooLarge, detail)
        }
        if case .trailerValue = state {
            if byte == ASCII.carriageReturn { return .trailerLineFeed }
            try checkText(byte)
            return .trailerValue
        }
        if ASCII.isToken(byte) { return .trailerName }
        switch (state, byte) {
        case (.trailerStart, ASCII.carriageReturn): return .lastLineFeed
        case (.trailerName, UInt8(ascii: ":")): return .trailerValue
        default: throw .malformed("a trailer line does not begin with a name and a colon")
        }
    }

    private func require(_ byte: UInt8, _ expected: UInt8) throws(HTTPError) {
        guard byte == expected else { throw .malformed("a line of the chunked coding does not end in CR LF") }
    }

    private func checkText(_ byte: UInt8) throws(HTTPError) {
        guard ASCII.isText(byte) else {
            throw .malformed("the chunked coding contains a control byte or a bare line feed")
        }
    }
}
