package import Logging
import RivuletBase

/// Measures the time for which events hold the event loop of their session, and logs events that hold it too long.
package final class SlowEvents {
    private let timeMin: UInt64
    private let logger: Logger
    private let now: @Sendable () -> UInt64
    private var rate = LogRateLimiter()

    /// Logs events that take `timeMin` or longer.
    ///
    /// `now` returns the milliseconds of a clock that moves while an event is handled.
    package init(timeMin: Duration, logger: Logger, now: @escaping @Sendable () -> UInt64) {
        self.timeMin = timeMin.milliseconds
        self.logger = logger
        self.now = now
    }

    /// Returns the time before an event.
    func begin() -> UInt64 { now() }

    /// Logs the events of one dispatch that began at `start` if they were slow, at most once in
    /// `LogRateLimiter.interval`.
    func end(_ start: UInt64, app: String, events: Int, name: @autoclosure () -> String) {
        let end = now()
        guard end >= start + timeMin, let leftOut = rate.admit(at: .milliseconds(Int64(clamping: end))) else { return }
        var metadata: Logger.Metadata = [
            "app": "\(app)", "event": "\(name())", "milliseconds": "\(end - start)", "limit": "\(timeMin)",
        ]
        if events > 1 { metadata["events"] = "\(events)" }
        if leftOut > 0 { metadata["left_out"] = "\(leftOut)" }
        logger.warning("an event was slow, and all else on its loop waited (slowEventTimeMin)", metadata: metadata)
    }
}
