/// The cause of a `reset`: a stream cannot be resumed where its reader stands.
///
/// A raw value is a part of the contract. Source: <Documentation/HTTP.md#events-of-a-stream>.
package enum ResetReason: String, CaseIterable, Sendable {
    /// The cursor is none.
    case unknownCursor = "unknown-cursor"
    /// The changes after the cursor are no longer kept, or are too many.
    case historyGone = "history-gone"
    /// The changes that the reader missed replaced values with positions of a wildcard in them, and the positions to drop are unknown.
    case placesUnknown = "places-unknown"
    /// The cursor is of before a restart, of before the storage was read again, or of another history.
    case epochChanged = "epoch-changed"
    /// The stream has other key paths than the cursor.
    case pathsChanged = "paths-changed"

    /// The causes of streams of stores and values.
    package static let ofShared: [ResetReason] = [.unknownCursor, .historyGone, .epochChanged]
}
