import RivuletEventLoop

/// The times at which the connections of one loop are visited: one timer wheel for all of them.
final class DeadlineTimers {
    private let loop: EventLoop
    private var timers: ConnectionTimers
    /// The time at which the loop wakes for the next visit, in milliseconds of the loop's clock.
    private var wake = UInt64.max

    init(_ loop: EventLoop) {
        self.loop = loop
        timers = ConnectionTimers(time: loop.nowMilliseconds)
    }

    /// Visits a connection at this time, unless it is visited earlier.
    func watch(_ connection: ClientConnection, until due: UInt64) {
        guard !connection.isScheduled(by: due) else { return }
        connection.schedule(in: &timers, at: due)
        wake(at: due)
    }

    /// Removes a connection that has closed.
    func cancel(_ connection: ClientConnection) { connection.cancelTimer(in: &timers) }

    private func wake(at due: UInt64) {
        guard due < wake else { return }
        wake = due
        let now = loop.nowMilliseconds
        // Due deadlines are handled before the loop sleeps. This timer only ends the sleep.
        loop.schedule(after: .milliseconds(due > now ? Int64(clamping: due - now) : 0)) {}
    }

    /// Visits the connections that are due, up to a limit; true if there may be more.
    func run(most countMax: Int, now: UInt64, _ visit: (ConnectionID) -> Void) -> Bool {
        guard wake <= now else { return false }
        timers.advance(to: now)
        var budget = countMax
        while budget > 0, let id = timers.popDue() {
            budget -= 1
            visit(id)
        }
        guard budget > 0 else { return true }
        wake = .max
        if let next = timers.nextWake() { wake(at: next) }
        return false
    }
}
