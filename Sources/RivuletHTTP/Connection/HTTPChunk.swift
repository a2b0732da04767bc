/// The chunked transfer coding of responses.
///
/// Source: RFC 9112 section 7.1.
package enum HTTPChunk {
    /// The end of a chunked body without trailers.
    package static let end: [UInt8] = Array("0\r\n\r\n".utf8)
    /// The bytes after the data of every chunk.
    package static let terminator: [UInt8] = Array("\r\n".utf8)
    /// The maximum number of bytes before the data of a chunk.
    package static let headBytesMax = 18

    /// Appends the bytes before the data of a chunk of `count` bytes; `count` must not be zero, because an empty chunk
    /// would end the body.
    package static func appendHead(count: Int, to output: inout [UInt8]) {
        output.append(addingCapacity: headBytesMax) { appendHead(count: count, to: &$0) }
    }

    /// Appends the bytes before the data of a chunk to memory that has room for `headBytesMax` bytes.
    package static func appendHead(count: Int, to output: inout OutputSpan<UInt8>) {
        precondition(count > 0, "a chunk of \(count) bytes cannot be written: use HTTPChunk.end to end the body")
        appendHex(count, to: &output)
        appendTerminator(to: &output)
    }

    /// Appends `terminator` to memory that has room for it.
    package static func appendTerminator(to output: inout OutputSpan<UInt8>) {
        output.append(ASCII.carriageReturn)
        output.append(ASCII.lineFeed)
    }

    /// Appends `data` as one chunk; appends nothing if it is empty.
    package static func append(_ data: [UInt8], to output: inout [UInt8]) {
        guard !data.isEmpty else { return }
        appendHead(count: data.count, to: &output)
        output.append(contentsOf: data)
        output.append(contentsOf: terminator)
    }

    private static func appendHex(_ value: Int, to output: inout OutputSpan<UInt8>) {
        if value >= 16 { appendHex(value >> 4, to: &output) }
        output.append(ASCII.lowerHexDigit(UInt8(value & 0xF)))
    }
}
