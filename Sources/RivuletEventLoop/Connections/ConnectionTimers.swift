/// A timer wheel of connections.
///
/// The wheel itself is generic, and compiled for what it holds within this module only: from outside each call of it would look up how to
/// handle its payload.
package struct ConnectionTimers {
    private var wheel: TimerWheel<ConnectionID>

    /// No timers; `time` is in milliseconds of the loop's clock.
    package init(time: UInt64) { wheel = TimerWheel(time: time) }

    /// Schedules a look at the connection.
    package mutating func schedule(at deadline: UInt64, _ id: ConnectionID) -> TimerID {
        wheel.schedule(at: deadline, id)
    }

    /// Cancels a look that has not been taken yet.
    package mutating func cancel(_ id: TimerID) { wheel.cancel(id) }

    /// Moves the wheel to `now`.
    package mutating func advance(to now: UInt64) { wheel.advance(to: now) }

    /// The next connection that is due; nil when none is.
    package mutating func popDue() -> ConnectionID? { wheel.popDue() }

    /// When `advance` next has something to do, in milliseconds; nil when nothing is scheduled.
    package func nextWake() -> UInt64? { wheel.nextWake() }
}
