import FoundationEssentials

/// The system's calendar clock.
package enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package static func milliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// Whole seconds since 1970-01-01T00:00:00Z.
    package static func seconds() -> Int64 { milliseconds() / 1_000 }
}
