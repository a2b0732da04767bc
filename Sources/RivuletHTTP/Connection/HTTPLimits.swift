/// The limits for reading requests; each of them can be configured.
///
/// Sizes are in bytes and inclusive: a header block of exactly `headerBytesMax` bytes is accepted, one byte more is
/// refused.
package struct HTTPLimits: Hashable, Sendable {
    /// The maximum size of the request line and all header lines with their line ends; 431 beyond.
    ///
    /// The value must be at most 65,535.
    package var headerBytesMax = 16_384 {
        didSet { checkHeaderBytesMax() }
    }
    /// The maximum number of header lines; 431 beyond.
    package var headerCountMax = 128
    /// The maximum size of the request target as sent; 414 beyond.
    package var targetBytesMax = 8_192
    /// The maximum size of the method; 501 beyond.
    package var methodBytesMax = 32
    /// The maximum size of the decoded body; 413 beyond.
    package var bodyBytesMax = 1_048_576
    /// The largest declared body of a request refused at its head that is discarded, so that the connection is kept.
    package var refusedBodyBytesMax = 65_536
    /// The maximum size of all chunk extensions of one body together; 400 beyond.
    package var chunkExtensionBytesMax = 4_096
    /// The maximum size of the trailer section of a chunked body; 431 beyond.
    package var trailerBytesMax = 4_096
    /// The maximum number of received bytes that wait behind the current response; the connection is closed beyond.
    package var pipelinedBytesMax = 131_072
    /// The maximum number of bytes that a peer may send into its event stream, which are ignored; the connection is
    /// closed beyond.
    package var streamInputBytesMax = 4_096

    /// The maximum time from the first byte of a head to its end; 408 beyond.
    package var headMilliseconds: UInt64 = 10_000
    /// The maximum time from the end of a head to the end of its body; 408 beyond.
    package var bodyMilliseconds: UInt64 = 30_000
    /// The maximum time without a byte of a request, on a new connection or after a response; a close without an answer
    /// beyond.
    package var idleMilliseconds: UInt64 = 75_000

    /// Makes the default limits.
    package init() {}

    /// Returns the time of `deadline` in milliseconds.
    package func milliseconds(of deadline: HTTPDeadline) -> UInt64 {
        switch deadline {
        case .idle: idleMilliseconds
        case .head: headMilliseconds
        case .body: bodyMilliseconds
        }
    }

    /// Returns the time of `deadline` as readable text.
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
