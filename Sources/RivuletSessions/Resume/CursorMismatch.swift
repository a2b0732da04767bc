/// What keeps the cursors of an `If-Match` from being where the session stands.
package enum CursorMismatch: Sendable, Hashable {
    /// The session has moved on from them.
    case moved
    /// It stands at one's version, but was loaded anew since: what is only in memory may be another.
    case reloaded
    /// None is of its history; or they are, and of a deployment in which its state had another shape: epochs tell no difference.
    case otherHistory
}
