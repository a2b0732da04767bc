// Part of Rivulet. See README.md for the architecture.
// Owns the reading of the system's uptime.

/// The clock that event timestamps are taken from.
enum UptimeClock {
    private static let start = ContinuousClock.now

    /// Nanoseconds since this process first asked; never goes back.
    static func nanoseconds() -> UInt64 {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
    }
}
