import RivuletJSON

/// Times as RFC 3339 writes them.
enum Timestamp {
    /// The text of milliseconds since 1970; the end of the year 9999 for later times.
    static func text(milliseconds: Int64) -> String {
        let (seconds, rest) = (max(milliseconds, 0) / 1_000, max(milliseconds, 0) % 1_000)
        return RFC3339(seconds: Int(seconds), nanoseconds: Int(rest) * 1_000_000)?.text ?? "9999-12-31T23:59:59Z"
    }
}
