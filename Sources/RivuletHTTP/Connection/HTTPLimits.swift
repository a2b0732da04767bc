/// The limits for reading requests; each of them can be configured.
///
/// Sizes are in bytes and inclusive: a header block of exactly `headerBytesMax` bytes is accepted, one byte more is
/// refused.
package struct HTTPLimits: Hashable, Sendable {
    /// The maximum size of the request line and all header lines with their line ends; a larger header block gets 431.
    ///
    /// The value must be at most 65,535.
    package var headerBytesMax = 16_384 {
        didSet { checkHeaderBytesMax() }
    }
    /// The maximum number of header lines; more lines get 431.
    package var headerCountMax = 128
    /// The maximum size of the request target as sent; a longer target gets 414.
    package var targetBytesMax = 8_192
    /// The maximum size of the method; a longer method gets 501.
    package var methodBytesMax = 32
    /// The maximum size of the decoded body; a larger body gets 413.
    package var bodyBytesMax = 1_048_576
    /// The largest declared body of a refused request that is read and discarded, so that the connection is kept.
    package var refusedBodyBytesMax = 65_536
    /// The maximum size of all chunk extensions of one body together; larger extensions get 400.
    package var chunkExtensionBytesMax = 4_096
    /// The maximum size of the trailer section of a chunked body; a larger section gets 431.
    package var trailerBytesMax = 4_096
    /// The maximum number of received bytes that wait behind the current response; more bytes close the connection.
    package var pipelinedBytesMax = 131_072
    /// The maximum number of bytes that a peer may send into its event stream, which are ignored; more bytes close the
    /// connection.
    package var streamInputBytesMax = 4_096

    /// The maximum time from the first byte of a head to its end; then the request gets 408.
    package var headMilliseconds: UInt64 = 10_000
    /// The maximum time from the end of a head to the end of its body; then the request gets 408.
    package var bodyMilliseconds: UInt64 = 30_000
    /// The maximum time without a byte of a request, on a new connection or after a response.
    ///
    /// Then the connection is closed without an answer.
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
