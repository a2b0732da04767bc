/// Reads one body.
///
/// Source: RFC 9112 section 6.3.
enum HTTPBodyDecoder: Sendable {
    /// This many bytes are still to come; zero: the body is complete.
    case length(Int)
    case chunked(HTTPChunkedDecoder)

    /// A decoder of a body framed like this.
    ///
    /// - Throws: 413 when the length is already known to be too large.
    init(_ framing: HTTPHead.Framing, _ limits: HTTPLimits) throws(HTTPRefusal) {
        switch framing {
        case .none:
            self = .length(0)
        case .length(let count):
            guard count <= limits.bodyBytesMax else { throw .tooLarge(limits) }
            self = .length(count)
        case .chunked:
            self = .chunked(HTTPChunkedDecoder())
        }
    }

    /// Appends what `bytes` hold of the body.
    ///
    /// - Returns: How many of `bytes` belong to the request when it is complete; nil when all do and more are needed.
    /// - Throws: 400, 413 or 431.
    mutating func decode(
        _ bytes: Span<UInt8>,
        into body: inout [UInt8],
        _ limits: HTTPLimits
    ) throws(HTTPRefusal) -> Int? {
        switch self {
        case .length(let remaining):
            let count = min(remaining, bytes.count)
            if count > 0 { body.append(copying: bytes.extracting(..<count)) }
            self = .length(remaining - count)
            return count == remaining ? count : nil
        case .chunked(var decoder):
            let consumed = try decoder.decode(bytes, into: &body, limits)
            self = .chunked(decoder)
            return consumed
        }
    }
}

extension HTTPRefusal {
    /// The 413 for a body over its limit.
    package static func tooLarge(_ limits: HTTPLimits) -> HTTPRefusal {
        HTTPRefusal(
            .contentTooLarge,
            "The body is longer than \(limits.bodyBytesMax) bytes (bodyBytesMax). Nothing has changed. Send a smaller body."
        )
    }
}
