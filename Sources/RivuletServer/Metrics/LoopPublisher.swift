import RivuletEventLoop
import RivuletSessions

/// Publishes what one loop counts and holds.
final class LoopPublisher {
    private let core: LoopCore
    /// What this loop held when it published last.
    private var published = LoopGauges()

    init(_ core: LoopCore) { self.core = core }

    /// Publishes what was counted since the last time, and what the loop holds now.
    func publish(_ gauges: LoopGauges, idleEvictions: Int, watchedEvictions: Int) {
        let metrics = core.context.metrics
        metrics.publish(&core.counters)
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

extension LoopCore {
    /// Counts a dispatch to an app, by the app's index, on the loop of its session.
    func count(_ result: Result<DispatchAnswer, SessionError>, of app: Int) {
        switch result {
        case .success(let answer):
            counters.dispatched(app: app, .accepted, DispatchDurability(isDurable: answer.isDurable))
        case .failure(let error): counters.dispatched(app: app, DispatchOutcome(error))
        }
    }

    /// The same for a request with an idempotency key.
    func count(_ result: Result<OnceAnswer, SessionError>, of app: Int) {
        switch result {
        case .success(let answer) where answer.isReplay: counters.dispatched(app: app, .replayed)
        case .success(let answer):
            counters.dispatched(app: app, .accepted, DispatchDurability(isDurable: answer.isDurable))
        case .failure(let error): counters.dispatched(app: app, DispatchOutcome(error))
        }
    }
}
