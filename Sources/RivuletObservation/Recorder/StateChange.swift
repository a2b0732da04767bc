/// A change of the value at one path.
public struct StateChange: Hashable, Sendable {
    /// The kind of change.
    public enum Operation: String, Hashable, Sendable {
        /// An element was added to a keyed collection, or a path that had no value has a value now.
        case add
        /// The value at the path is different.
        case replace
        /// An element was removed from a keyed collection, or a path has no value any more.
        case remove
        /// An element of a keyed collection is at another position.
        case move
    }

    /// The kind of change.
    public var operation: Operation
    /// The path as a JSON Pointer's text; empty for the whole state.
    public var path: String
    /// The index of an element in its collection after it was added or moved, from 0; nil for other operations.
    ///
    /// Apply the changes in order. For `move`, remove the element first, then insert it at the index.
    public var index: Int?
    /// The new value as clients see it, in JSON; nil for `remove` and `move`.
    public var value: [UInt8]?
    /// The same value without its transient fields, as it is stored on disk; nil if both are equal.
    public var durableValue: [UInt8]?
    /// True if only transient fields changed at this path.
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
