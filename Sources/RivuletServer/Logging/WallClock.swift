import FoundationEssentials

/// The system's calendar clock.
enum WallClock {
    /// Milliseconds since 1970.
    static func milliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// Whole seconds since 1970.
    static func seconds() -> Int64 { Int64(Date().timeIntervalSince1970) }
}
