/// The clock that event timestamps are taken from.
enum UptimeClock {
    private static let start = ContinuousClock().systemEpoch

    /// Nanoseconds since the system started, sleep included; never goes back.
    static func nanoseconds() -> UInt64 {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
    }
}
