#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The time since the machine's start, with the time in which the machine sleeps.
///
/// A lease ends also while its node sleeps. Source: clock_gettime(2)
enum BootClock {
    #if canImport(Darwin)
    // Darwin's CLOCK_MONOTONIC counts the sleep.
    private static let clock = CLOCK_MONOTONIC
    #else
    private static let clock = CLOCK_BOOTTIME
    #endif

    static func milliseconds() -> Int64 {
        var time = timespec()
        guard unsafe clock_gettime(clock, &time) == 0 else {
            preconditionFailure("the system has no clock that counts the time asleep: \(errno)")
        }
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
