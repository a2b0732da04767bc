/// The decoder of one request body.
///
/// Source: RFC 9112 section 6.3.
enum HTTPBodyDecoder: Sendable {
    /// A body of known length, with the number of bytes still to come; zero if the body is complete.
    case length(Int)
    case chunked(HTTPChunkedDecoder)

    /// Makes a decoder for a framing.
    ///
    /// - Throws: 413 if the declared length is too large.
    init(_ framing: HTTPHead.Framing, _ limits: HTTPLimits) throws(HTTPError) {
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

    /// Appends the part of the body that `bytes` hold.
    ///
    /// - Returns: The number of `bytes` that belong to the body, if they complete it; nil if the body needs more bytes.
    /// - Throws: 400, 413 or 431.
    mutating func decode(
        _ bytes: Span<UInt8>,
        into body: inout [UInt8],
        _ limits: HTTPLimits
    ) throws(HTTPError) -> Int? {
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

extension HTTPError {
    /// Returns the 413 for a body over its limit.
    package static func tooLarge(_ limits: HTTPLimits) -> HTTPError {
        HTTPError(
            .contentTooLarge,
            "The body is longer than \(limits.bodyBytesMax) bytes (bodyBytesMax). Nothing has changed. Send a smaller body."
        )
    }
}
