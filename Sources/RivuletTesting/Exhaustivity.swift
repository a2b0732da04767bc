/// Whether a ``TestStore`` fails on what a test does not assert.
public enum Exhaustivity: Sendable, Hashable {
    /// Every change, every event of an effect and the end of every effect is asserted.
    case on
    /// Only what is asserted is checked; other changes and events are passed over.
    case off
}
