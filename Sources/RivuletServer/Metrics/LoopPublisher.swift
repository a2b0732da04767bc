import RivuletEventLoop

/// Publishes what one loop counts and holds.
final class LoopPublisher {
    private let core: LoopCore
    /// What this loop held when it published last.
    private var published = LoopGauges()

    init(_ core: LoopCore) { self.core = core }

    /// Publishes what was counted since the last time, and what the loop holds now.
    func publish(_ gauges: LoopGauges, idleEvictions: Int, watchedEvictions: Int) {
        let metrics = core.context.metrics
        metrics.publish(core.counters)
        metrics.publish(gauges, before: published)
        published = gauges
        guard idleEvictions + watchedEvictions > 0 else { return }
        var evictions = Tally<EvictionKind>()
        evictions.add(.idle, idleEvictions)
        evictions.add(.watched, watchedEvictions)
        metrics.publish(evictions)
    }

    /// Counts a turn, at its end.
    func countTurn() {
        // The loop's clock stands where the turn began.
        let (now, start) = (MonotonicClock.milliseconds(), core.loop.nowMilliseconds)
        core.counters.turnEnded(milliseconds: now > start ? now - start : 0)
    }
}
