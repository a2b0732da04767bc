/// What a session logs of an effect.
package enum EffectFault: Sendable, CustomStringConvertible {
    /// Its body threw this, and nobody handles it.
    case failed(any Error)
    /// The session waited for so long.
    case timedOut(limit: Duration)
    /// Too much work of the session has not returned yet.
    case tooManyUnderWay(limit: Int)
    /// The session has too many timers.
    case tooManyTimers(limit: Int)
    /// `.dispatch` effects have brought forth too many events without anything from outside.
    case chainTooLong(limit: Int)
    /// It dispatched after the session had left memory, or as it was leaving.
    case late
    /// The session's event queue has no room for what it dispatched.
    case queueFull(limit: Int)

    package var description: String {
        switch self {
        case .failed: "an effect failed"
        case .timedOut(let limit): "an effect took longer than effectTimeMax (\(limit)) and was cancelled"
        case .tooManyUnderWay(let limit): "an effect was not started: effectsUnderWayMax (\(limit)) are under way"
        case .tooManyTimers(let limit): "a timer was not started: the session has timersMax (\(limit))"
        case .chainTooLong(let limit):
            "effects dispatched more than chainedEventsMax (\(limit)) events in consequence of one; the rest is dropped"
        case .late: "an effect's event was dropped: its session has left memory or is leaving"
        case .queueFull(let limit): "an effect's event was dropped: queuedDispatchesMax (\(limit)) are waiting"
        }
    }

    /// The error behind it, if it is one.
    package var error: (any Error)? {
        if case .failed(let error) = self { error } else { nil }
    }
}
