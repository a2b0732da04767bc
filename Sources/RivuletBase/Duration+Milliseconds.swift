extension Duration {
    /// Whole milliseconds, rounded down; 0 for a negative duration.
    @inlinable package var milliseconds: UInt64 { milliseconds(adding: 0) }

    /// Whole milliseconds, rounded up; 0 for a negative duration.
    @inlinable package var millisecondsRoundedUp: UInt64 { milliseconds(adding: 999_999_999_999_999) }

    /// Whole milliseconds of the duration plus `rest` attoseconds, rounded down; 0 for a negative duration.
    @inlinable package func milliseconds(adding rest: Int64) -> UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        // The limit prevents an overflow when the result is added to a clock's time.
        return UInt64(min(seconds, 1 << 50)) * 1_000 + UInt64((attoseconds + rest) / 1_000_000_000_000_000)
    }

    /// Whole nanoseconds, rounded down; 0 for a negative duration.
    @inlinable package var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        // At most 2^33 seconds, so that the result also fits in an Int64.
        return UInt64(min(seconds, 1 << 33)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
