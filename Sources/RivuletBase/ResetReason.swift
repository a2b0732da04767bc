/// The cause of a `reset`: a stream cannot be resumed at its reader's cursor.
///
/// The raw values are a part of the contract. Source: <Documentation/HTTP.md#events-of-a-stream>.
package enum ResetReason: String, CaseIterable, Sendable {
    /// The text is not a cursor, or the cursor is later than the newest version.
    case unknownCursor = "unknown-cursor"
    /// The changes after the cursor are no longer stored, or are too many.
    case historyGone = "history-gone"
    /// A missed change replaced a value that contained paths of a wildcard, so the removed paths are unknown.
    case placesUnknown = "places-unknown"
    /// The cursor's epoch is of another history or another shape, or is older than a reload of the store or value.
    case epochChanged = "epoch-changed"
    /// The stream has other key paths than the cursor.
    case pathsChanged = "paths-changed"
    /// The caller's permissions grant other key paths than before.
    case permissionsChanged = "permissions-changed"

    /// The causes that a reset of a store's or a value's stream can have.
    package static let ofShared: [ResetReason] = [.unknownCursor, .historyGone, .epochChanged]
}
