public import RivuletEngine

/// Replaces the persistent half, without the reducers; the transient half stays unchanged.
///
/// A manager dispatches such an event when it starts. The event is not saved, because its state was just read.
/// Source: <Tests/Rows/Systems.md#d-09>.
public struct StateRestoreEvent<Persistent: Codable & Equatable & Sendable>: AppEvent {
    /// The new persistent half.
    public let restoredState: Persistent

    /// Creates an event with a persistent half.
    public init(restoredState: Persistent) {
        self.restoredState = restoredState
    }

    /// False.
    public var persist: Bool { false }
    /// False.
    public var isUIEvent: Bool { false }
}

/// Resets both halves to their defaults, without the reducers, and saves them.
///
/// Source: <Tests/Rows/Systems.md#d-10>.
public struct ResetEvent: AppEvent, Equatable {
    /// Creates a reset.
    public init() {}

    /// True.
    public var persist: Bool { true }
    /// True.
    public var isUIEvent: Bool { true }
}
