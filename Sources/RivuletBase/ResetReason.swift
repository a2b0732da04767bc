/// The cause of a `reset`: a stream cannot be resumed at its reader's cursor.
///
/// The raw values are a part of the contract. Source: <Documentation/HTTP.md#events-of-a-stream>.
package enum ResetReason: String, CaseIterable, Sendable {
    /// The text is not a cursor.
    case unknownCursor = "unknown-cursor"
    /// The changes after the cursor are no longer stored, or there are too many.
    case historyGone = "history-gone"
    /// A missed change replaced a value that contained paths of a wildcard, so the removed paths are unknown.
    case placesUnknown = "places-unknown"
    /// The cursor is older than a restart or a reload of the storage, or belongs to another history.
    case epochChanged = "epoch-changed"
    /// The stream has other key paths than the cursor.
    case pathsChanged = "paths-changed"

    /// The causes that a reset of a store's or a value's stream can have.
    package static let ofShared: [ResetReason] = [.unknownCursor, .historyGone, .epochChanged]
}
