/// Something that happened, sent to a session, where reducers turn it into a change of state.
///
/// Source: <Tests/Rows/Systems.md#d-05>.
public protocol AppEvent: Sendable, Codable {
    /// Whether the change is on disk (fsync returned) before the dispatch is acknowledged.
    ///
    /// False makes the event transient: it changes memory at once, has no version, and is lost by a restart.
    var persist: Bool { get }
    /// Whether a person caused it; only recorded, the engine does not look at it.
    var isUIEvent: Bool { get }
}
