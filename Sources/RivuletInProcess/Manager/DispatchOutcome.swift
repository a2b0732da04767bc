/// Whether an event was taken.
public enum DispatchOutcome: Sendable, Hashable {
    /// It waits for its turn, or has had it.
    case queued
    /// The dispatch filter refused it: it is not counted, and nothing happens.
    case filtered
    /// `EngineLimits.queuedDispatchesMax` events wait already: it is lost, which is logged.
    case refused
}
