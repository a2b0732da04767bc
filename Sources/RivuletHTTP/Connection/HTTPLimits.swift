/// The limits of reading requests; every one of them can be configured.
///
/// Sizes are in bytes and inclusive: a header block of exactly `headerBytesMax` is read, one byte more is refused.
package struct HTTPLimits: Hashable, Sendable {
    /// The request line and all header lines with their line ends; 431 beyond.
    ///
    /// At most 65,535.
    package var headerBytesMax = 16_384 {
        didSet { checkHeaderBytesMax() }
    }
    /// The number of header lines; 431 beyond.
    package var headerCountMax = 128
    /// The request target as sent; 414 beyond.
    package var targetBytesMax = 8_192
    /// The method; 501 beyond.
    package var methodBytesMax = 32
    /// The decoded body; 413 beyond.
    package var bodyBytesMax = 1_048_576
    /// The declared body of a request that is refused at its head, up to which it is read away and the connection kept.
    package var refusedBodyBytesMax = 65_536
    /// All chunk extensions of one body together; 400 beyond.
    package var chunkExtensionBytesMax = 4_096
    /// The trailer section of a chunked body; 431 beyond.
    package var trailerBytesMax = 4_096
    /// Received bytes that wait behind a request whose response is under way; the connection is closed beyond.
    package var pipelinedBytesMax = 131_072
    /// Bytes that a peer may send into its own event stream (they are ignored); the connection is closed beyond.
    package var streamInputBytesMax = 4_096

    /// From the first byte of a head to its end; 408 beyond.
    package var headMilliseconds: UInt64 = 10_000
    /// From the end of a head to the end of its body; 408 beyond.
    package var bodyMilliseconds: UInt64 = 30_000
    /// Without a byte of a request, on a new connection or after a response; a silent close beyond.
    package var idleMilliseconds: UInt64 = 75_000

    /// The defaults.
    package init() {}

    /// How long `deadline` lasts.
    package func milliseconds(of deadline: HTTPDeadline) -> UInt64 {
        switch deadline {
        case .idle: idleMilliseconds
        case .head: headMilliseconds
        case .body: bodyMilliseconds
        }
    }

    /// The same as a text for people.
    func text(of deadline: HTTPDeadline) -> String { "\(Duration.milliseconds(milliseconds(of: deadline)))" }

    private func checkHeaderBytesMax() {
        precondition(
            (1...65_535).contains(headerBytesMax),
            "headerBytesMax \(headerBytesMax) is not within 1...65535: header offsets are 16 bits wide"
        )
    }
}

/// The part of a request that a connection waits for; `HTTPLimits.milliseconds(of:)` bounds the wait.
package enum HTTPDeadline: Hashable, Sendable {
    /// The first byte of a request.
    case idle
    /// The end of a head that has begun.
    case head
    /// The end of a body.
    case body
}
