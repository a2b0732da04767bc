// Owns the timers of a loop: one libuv timer over the wheel.

import RivuletBase

extension EventLoop {
    /// Runs `job` on the loop after `delay`; never early, and late by at most 1/31 of the delay plus one turn.
    ///
    /// The call takes constant time for any number of timers. The delay begins at this turn's `nowMilliseconds`, is
    /// rounded up to milliseconds, and is at least one. The job of a connection must be cancelled when the connection
    /// closes.
    @discardableResult
    package func schedule(after delay: Duration, _ job: @escaping () -> Void) -> TimerID {
        let deadline = uv.now + delay.millisecondsRoundedUp
        if deadline < state.armedWake ?? .max { state.mustArmWake = true }
        return state.timers.schedule(at: deadline, job)
    }

    /// Cancels a timer; does nothing if its job has run or it was cancelled before.
    package func cancel(_ id: TimerID) { state.timers.cancel(id) }

    /// The number of scheduled timers.
    package var timerCount: Int { state.timers.count }

    func runDueTimers() {
        state.timers.advance(to: uv.now)
        while let job = state.timers.popDue() { job() }
    }

    func armWake() {
        guard state.mustArmWake || uv.now >= state.armedWake ?? .max else { return }
        let wake = state.timers.nextWake()
        state.armedWake = wake
        state.mustArmWake = false
        uv.setWake(at: wake)
    }
}
