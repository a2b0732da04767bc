#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The time since an arbitrary start, which no change of the wall clock affects.
enum MonotonicClock {
    static func nanoseconds() -> UInt64 { nanoseconds(of: CLOCK_MONOTONIC) }

    static func milliseconds() -> UInt64 { nanoseconds() / 1_000_000 }

    /// The milliseconds of a clock that is very cheap to read; exact to the kernel's tick, 1 to 10 ms.
    static func coarseMilliseconds() -> UInt64 { nanoseconds(of: CLOCK_MONOTONIC_COARSE) / 1_000_000 }

    private static func nanoseconds(of clock: clockid_t) -> UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(clock, &time) == 0 else { return 0 }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
