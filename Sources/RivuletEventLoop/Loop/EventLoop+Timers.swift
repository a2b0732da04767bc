// Owns the timers of a loop: one libuv timer over the wheel.

import RivuletBase

extension EventLoop {
    /// Runs `job` on the loop once `delay` has passed; never early, late by at most 1/31 of the delay and the turn.
    ///
    /// Constant time, however many are scheduled. The delay counts from this turn's `nowMilliseconds`, is rounded up to
    /// milliseconds, and is at least one. A job that belongs to a connection must be cancelled when that closes.
    @discardableResult
    package func schedule(after delay: Duration, _ job: @escaping () -> Void) -> TimerID {
        let deadline = uv.now + delay.millisecondsRoundedUp
        if deadline < state.armedWake ?? .max { state.mustArmWake = true }
        return state.timers.schedule(at: deadline, job)
    }

    /// Cancels a timer; nothing happens when its job has run or it was cancelled before.
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
