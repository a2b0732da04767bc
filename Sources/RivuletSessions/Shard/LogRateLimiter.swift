/// A log rate limiter: it admits one line in each interval, and counts the lines that are left out.
struct LogRateLimiter {
    /// The shortest time between two lines.
    static let interval = Duration.seconds(1)

    private var last: Duration?
    private var leftOut = 0

    /// Decides if a line may be written now.
    ///
    /// - Returns: The number of lines left out since the last written one; nil if this line is left out too.
    mutating func admit(at now: Duration) -> Int? {
        if let last, now < last + Self.interval {
            leftOut += 1
            return nil
        }
        defer { (last, leftOut) = (now, 0) }
        return leftOut
    }
}
