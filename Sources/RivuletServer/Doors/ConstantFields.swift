// The header lines that nearly every answer has, made once.

/// Blocks of whole header lines for `HTTPResponseHead.append`.
enum ConstantFields {
    /// The request headers that pages of allowed origins may send, besides the headers that need no permission.
    static let requestHeaders =
        "authorization, content-type, if-match, if-modified-since, if-none-match, if-range, idempotency-key, last-event-id, "
        + "prefer, range, traceparent, tracestate"

    /// The response headers that scripts of these pages may read, besides the headers that need no permission.
    static let responseHeaders =
        "Accept-Encoding, Accept-Ranges, Allow, Content-Encoding, Content-Range, Date, ETag, Idempotency-Replayed, Link, Location, "
        + "Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, Rivulet-Masked, Rivulet-Version, traceparent, WWW-Authenticate"

    /// The seconds for which a browser may keep the answer to a preflight.
    static let preflightSeconds = 7_200

    /// The lines of an answer that no page of another origin may read.
    ///
    /// `isVarying` is true if the same request with another `Origin` may get another answer.
    static func own(isVarying: Bool) -> [UInt8] {
        lines(
            [("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin")]
                + (isVarying ? [("Vary", "Origin")] : [])
        )
    }

    /// The lines of an answer that the page of an allowed origin may read.
    ///
    /// `origin` has been read by `WebOrigin`, so it has no line end.
    /// Source: <https://fetch.spec.whatwg.org/#http-cors-protocol>.
    static func shared(with origin: String, as grant: AllowedOrigins.Grant) -> [UInt8] {
        let allowed =
            switch grant {
            case .named: [("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true")]
            case .anonymous: [("Access-Control-Allow-Origin", "*")]
            }
        return lines(
            [("X-Content-Type-Options", "nosniff")] + allowed
                + [("Access-Control-Expose-Headers", responseHeaders), ("Vary", "Origin")]
        )
    }

    /// The line that makes browsers use https only for the host and its ports, for a number of days.
    ///
    /// Source: RFC 6797 §6.1.
    static func strictTransport(days: Int) -> [UInt8] {
        lines([("Strict-Transport-Security", "max-age=\(days * 86_400)")])
    }

    private static func lines(_ fields: [(name: String, value: String)]) -> [UInt8] {
        fields.flatMap { Array("\($0.name): \($0.value)\r\n".utf8) }
    }
}
