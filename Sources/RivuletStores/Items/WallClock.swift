internal import Glibc

/// The system's calendar clock.
package enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package static func milliseconds() -> Int64 {
        var time = timespec()
        // The call fails only for an unknown clock id.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Whole seconds since 1970-01-01T00:00:00Z.
    package static func seconds() -> Int64 { milliseconds() / 1_000 }
}
