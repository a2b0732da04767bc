import FoundationEssentials

/// The system's clock.
package enum ItemClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package static let milliseconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
}
