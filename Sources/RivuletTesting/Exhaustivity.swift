/// The strictness of a ``TestStore`` about changes and events that a test does not assert.
public enum Exhaustivity: Sendable, Hashable {
    /// Every change, every event of an effect and the end of every effect must be asserted.
    case on
    /// Only assertions are checked; other changes and events are skipped.
    case off
}
