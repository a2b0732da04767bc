public import RivuletEngine

/// Replaces the persistent half, past all reducers; the transient half stays as it is.
///
/// A manager dispatches one when it starts. It is not saved: what it brings was just read.
/// Source: <Tests/Rows/Systems.md#d-09>.
public struct StateRestoreEvent<Persistent: Codable & Equatable & Sendable>: AppEvent {
    /// The persistent half from now on.
    public let restoredState: Persistent

    /// Asks for a persistent half.
    public init(restoredState: Persistent) {
        self.restoredState = restoredState
    }

    /// False.
    public var persist: Bool { false }
    /// False.
    public var isUIEvent: Bool { false }
}

/// Puts both halves back to their defaults, past all reducers, and saves that.
///
/// Source: <Tests/Rows/Systems.md#d-10>.
public struct ResetEvent: AppEvent, Equatable {
    /// Asks for the defaults.
    public init() {}

    /// True.
    public var persist: Bool { true }
    /// True.
    public var isUIEvent: Bool { true }
}
