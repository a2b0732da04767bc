import RivuletEventLoop

/// Publishes the counts and the sizes of one loop.
final class LoopPublisher {
    private let core: LoopCore
    /// The sizes of this loop when it published last.
    private var published = LoopGauges()

    init(_ core: LoopCore) { self.core = core }

    /// Publishes the counts since the last time, and the present sizes of the loop.
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
        let (now, start) = (MonotonicClock.milliseconds(), core.loop.turnMilliseconds)
        core.counters.turnEnded(milliseconds: now > start ? now - start : 0)
    }
}
