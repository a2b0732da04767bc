/// One path whose value a run changed.
public struct StateChange: Hashable, Sendable {
    /// What happened to the path.
    public enum Operation: String, Hashable, Sendable {
        /// An element came to a keyed collection.
        case add
        /// The path has another value.
        case replace
        /// An element left a keyed collection.
        case remove
        /// An element of a keyed collection is in another place.
        case move
    }

    /// What happened to the path.
    public var operation: Operation
    /// The path as a JSON Pointer's text; empty for the whole state.
    public var path: String
    /// Where an element stands in its collection after it was added or moved, from 0; nil for other operations.
    ///
    /// It counts at the moment when the change is made: after the changes before it, and for `move` with the element taken out.
    public var index: Int?
    /// The value after the run as clients see it, JSON text; nil when there is none (`remove`, `move`).
    public var value: [UInt8]?
    /// The same value without its transient fields, as it goes to disk; nil when that makes no difference.
    public var durableValue: [UInt8]?
    /// Whether nothing that is kept on disk changed here.
    public var isTransient: Bool

    /// Describes a change.
    public init(
        operation: Operation,
        path: String,
        index: Int? = nil,
        value: [UInt8]?,
        durableValue: [UInt8]? = nil,
        isTransient: Bool = false
    ) {
        self.operation = operation
        self.path = path
        self.index = index
        self.value = value
        self.durableValue = durableValue
        self.isTransient = isTransient
    }
}
