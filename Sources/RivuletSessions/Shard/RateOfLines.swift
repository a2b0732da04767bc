/// Lets one line through in each interval, and counts what it leaves out.
struct RateOfLines {
    /// The shortest time between two lines.
    static let interval = Duration.seconds(1)

    private var last: Duration?
    private var leftOut = 0

    /// Whether a line may be written now.
    ///
    /// - Returns: how many were left out since the one before; nil: this one is to be left out too.
    mutating func admit(at now: Duration) -> Int? {
        if let last, now < last + Self.interval {
            leftOut += 1
            return nil
        }
        defer { (last, leftOut) = (now, 0) }
        return leftOut
    }
}
