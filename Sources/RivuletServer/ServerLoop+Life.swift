// Part of Rivulet. See README.md for the architecture.
// Owns the regular work of a loop, and its end.

import RivuletEventLoop
import RivuletSessions

extension ServerLoop {
    /// Begins the loop's regular work.
    func begin() {
        loop.setDelegate(self)
        every(.seconds(1)) { $0.checkDeadlines() }
        every(.seconds(1)) { $0.publishMetrics() }
        every(context.options.limits.heartbeatInterval / 3) { $0.tendStreams() }
        every(context.options.sessionLimits.idleTimeMax / 10) { $0.shard.evict() }
    }

    private func every(_ interval: Duration, _ job: @escaping (ServerLoop) -> Void) {
        loop.schedule(after: interval) { [self] in
            job(self)
            if !isDraining { every(interval, job) }
        }
    }

    /// Drains, and ends the loop when all is answered or the time for it is over.
    func drainAndStop() {
        guard !isDraining else { return }
        drain()
        stopWhenQuiet(since: loop.nowMilliseconds)
    }

    private func stopWhenQuiet(since start: UInt64) {
        let isOver = loop.nowMilliseconds >= start + context.options.limits.drainTimeMax.milliseconds
        guard context.note(quiet: isQuiet, loop: index) || isOver else {
            loop.schedule(after: .milliseconds(10)) { [self] in stopWhenQuiet(since: start) }
            return
        }
        loop.stop()
    }
}
