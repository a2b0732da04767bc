public import RivuletEngine

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
