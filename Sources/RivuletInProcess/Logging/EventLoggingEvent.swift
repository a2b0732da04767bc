public import RivuletEngine

/// Asks something of the event log; no such event is in the log.
public enum EventLoggingEvent: AppEvent, Equatable {
    /// Dispatches the logged events again, see ``EventEffectsProcessor``.
    case replay
    /// Empties the log.
    case clear

    /// False.
    public var persist: Bool { false }
    /// False.
    public var isUIEvent: Bool { false }
}
