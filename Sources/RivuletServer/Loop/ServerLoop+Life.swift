// Owns the regular work of a loop, and its end.

import RivuletEventLoop
import RivuletSessions

extension ServerLoop {
    /// Begins the loop's regular work.
    func begin() {
        loop.setDelegate(self)
        every(.seconds(1)) { loop in
            loop.publishMetrics()
            loop.renewLogQuotas()
        }
        every(context.options.sessionLimits.idleTimeMax / 10) { $0.shard.evict() }
    }

    private func every(_ interval: Duration, _ job: @escaping (ServerLoop) -> Void) {
        loop.schedule(after: interval) { [self] in
            job(self)
            if !isDraining { every(interval, job) }
        }
    }

    /// Ends the streams a few at a time over `drainSpread`, so that their clients do not all come back in one moment.
    func endStreamsInTurn() {
        let ids = streams.ids
        let steps = max(Int(context.options.limits.drainSpread / Self.drainStep), 1)
        let count = max((ids.count + steps - 1) / steps, Self.streamsPerDrainStepMin)
        endStreams(ids[...], count: count)
    }

    private func endStreams(_ ids: ArraySlice<ConnectionID>, count: Int) {
        for id in ids.prefix(count) where streams[id] != nil { closeStream(id, because: .draining) }
        let rest = ids.dropFirst(count)
        guard !rest.isEmpty else { return }
        loop.schedule(after: Self.drainStep) { [self] in endStreams(rest, count: count) }
    }

    private static var drainStep: Duration { .milliseconds(50) }
    /// So few streams that come back in one moment are no load.
    private static var streamsPerDrainStepMin: Int { 64 }

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
        renewLogQuotas()
        loop.stop()
    }
}
