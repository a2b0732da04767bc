/// A timer wheel of connections.
///
/// The wheel itself is generic, and is specialized within this module only. From outside, each call would look up the
/// payload's metadata.
package struct ConnectionTimers {
    private var wheel: TimerWheel<ConnectionID>

    /// Makes an empty wheel; `time` is in milliseconds of the loop's clock.
    package init(time: UInt64) { wheel = TimerWheel(time: time) }

    /// Schedules a check of the connection.
    package mutating func schedule(at deadline: UInt64, _ id: ConnectionID) -> TimerID {
        wheel.schedule(at: deadline, id)
    }

    /// Cancels a check that is not done yet.
    package mutating func cancel(_ id: TimerID) { wheel.cancel(id) }

    /// Moves the wheel to `now`.
    package mutating func advance(to now: UInt64) { wheel.advance(to: now) }

    /// Returns the next connection that is due; nil if none is.
    package mutating func popDue() -> ConnectionID? { wheel.popDue() }

    /// Returns the next time at which `advance` has work, in milliseconds; nil if nothing is scheduled.
    package func nextWake() -> UInt64? { wheel.nextWake() }
}
