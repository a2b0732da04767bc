/// An error of an effect, for the session's log.
package enum EffectError: Sendable, CustomStringConvertible {
    /// The body threw this error, and there is no handler.
    case failed(any Error)
    /// The session waited for the effect until this time limit.
    case timedOut(limit: Duration)
    /// Too many works of the session have not returned yet.
    case tooManyUnderWay(limit: Int)
    /// The session has too many timers.
    case tooManyTimers(limit: Int)
    /// `.dispatch` effects alone have caused too many events in a row, without work or a timer between them.
    case chainTooLong(limit: Int)
    /// The effect dispatched an event after its session had left memory, or while it was leaving.
    case late
    /// The session's event queue is too full for the effect's event.
    case queueFull(limit: Int)

    package var description: String {
        switch self {
        case .failed: "an effect failed"
        case .timedOut(let limit): "an effect took longer than effectTimeMax (\(limit)) and was cancelled"
        case .tooManyUnderWay(let limit): "an effect was not started: effectsUnderWayMax (\(limit)) others still run"
        case .tooManyTimers(let limit): "a timer was not started: the session already has timersMax (\(limit))"
        case .chainTooLong(let limit):
            "one event caused more than chainedEventsMax (\(limit)) events by .dispatch alone; the rest is dropped"
        case .late: "an effect's event was dropped: its session has left memory or is leaving"
        case .queueFull(let limit): "an effect's event was dropped: queuedDispatchesMax (\(limit)) already wait"
        }
    }

    /// The underlying error, if there is one.
    package var error: (any Error)? {
        if case .failed(let error) = self { error } else { nil }
    }
}
