public import RivuletJSON

/// A value with tracked inner writes.
///
/// An ``ObservableState``, an ``ObservableEnum``, a ``Keyed`` collection of such values, or an optional of these types.
///
/// Generated code calls these members; applications do not.
public protocol StateNode: JSONCodable, Generated.StateBearing {
    // swift-format-ignore: NoLeadingUnderscores
    /// Takes the serial of this value's location; nothing has been written since then.
    mutating func _$enter(_ serial: UInt64)

    // swift-format-ignore: NoLeadingUnderscores
    /// The node at which this value is observed; nil if it is not observed.
    var _$node: Generated.ObservedNode? { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// Returns true if this value is the one observed at a node.
    func _$isObserved(at node: Generated.ObservedNode) -> Bool

    // swift-format-ignore: NoLeadingUnderscores
    /// True if this value is an optional that is nil.
    var _$isAbsent: Bool { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// Takes the node at which this value is observed.
    mutating func _$observe(at node: Generated.ObservedNode)

    // swift-format-ignore: NoLeadingUnderscores
    /// Reports the differing fields; returns false, and reports nothing, if the values must be compared as a whole.
    ///
    /// If `serial` is nil, every field is compared.
    static func _$collect(
        from old: Self,
        to new: Self,
        serial: UInt64?,
        into collector: inout Generated.ChangeCollector
    ) -> Bool

    // swift-format-ignore: NoLeadingUnderscores
    /// Merges a partial document into this value: fields that the document does not have keep their values.
    ///
    /// - Throws: an error of the document; the fields before the error have been written.
    mutating func _$merge(json reader: inout JSONReader) throws(JSONError)

    // swift-format-ignore: NoLeadingUnderscores
    /// Applies a ``StateChange`` at a path below this value; an empty path is this value itself.
    ///
    /// - Throws: an error of the document, or `mismatch` if the path does not exist; nothing is written then.
    mutating func _$apply(
        _ operation: StateChange.Operation,
        at path: ArraySlice<String>,
        index: Int?,
        json reader: inout JSONReader
    ) throws(JSONError)

    // swift-format-ignore: NoLeadingUnderscores
    /// Finishes work that the last run deferred, such as the moving of edited elements; the value does not change.
    ///
    /// The recorder calls it between two runs.
    mutating func _$settle()

    // swift-format-ignore: NoLeadingUnderscores
    /// True if a replaced value is reported by its parts, as if it had been edited.
    static var _$isComparedByParts: Bool { get }
}

extension StateNode {
    // swift-format-ignore: NoLeadingUnderscores
    /// Does nothing: no work is deferred.
    @inlinable
    public mutating func _$settle() {}

    // swift-format-ignore: NoLeadingUnderscores
    /// Always false: a replaced value is reported as a whole.
    @inlinable public static var _$isComparedByParts: Bool { false }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads the value at a path below this one; an empty path is this value itself.
    ///
    /// - Throws: an error of the document, or `mismatch` if the path does not exist; nothing is written then.
    public mutating func _$replace(at path: ArraySlice<String>, json reader: inout JSONReader) throws(JSONError) {
        try _$apply(.replace, at: path, index: nil, json: &reader)
    }
}

extension StateNode {
    // swift-format-ignore: NoLeadingUnderscores
    /// Compares the node at which this value is observed.
    @inlinable
    public func _$isObserved(at node: Generated.ObservedNode) -> Bool { _$node === node }

    // swift-format-ignore: NoLeadingUnderscores
    /// Always false: only an optional can be absent.
    @inlinable public var _$isAbsent: Bool { false }
}

extension Optional: StateNode where Wrapped: StateNode {
    // swift-format-ignore: NoLeadingUnderscores
    /// Passes the serial to the value, if there is one.
    @inlinable
    public mutating func _$enter(_ serial: UInt64) {
        self?._$enter(serial)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// The node of the value, if there is one.
    @inlinable public var _$node: Generated.ObservedNode? { self?._$node }

    // swift-format-ignore: NoLeadingUnderscores
    /// Returns true if there is a value and it is the one observed at a node.
    @inlinable
    public func _$isObserved(at node: Generated.ObservedNode) -> Bool { self?._$isObserved(at: node) ?? false }

    // swift-format-ignore: NoLeadingUnderscores
    /// True if the optional is nil.
    @inlinable public var _$isAbsent: Bool { if case .none = self { true } else { false } }

    // swift-format-ignore: NoLeadingUnderscores
    /// Passes the node to the value, if there is one.
    @inlinable
    public mutating func _$observe(at node: Generated.ObservedNode) {
        self?._$observe(at: node)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reports the differing fields of two values; returns false if either is nil, so that they are compared as a
    /// whole.
    @inlinable
    public static func _$collect(
        from old: Wrapped?,
        to new: Wrapped?,
        serial: UInt64?,
        into collector: inout Generated.ChangeCollector
    ) -> Bool {
        guard let old, let new else { return false }
        return Wrapped._$collect(from: old, to: new, serial: serial, into: &collector)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads `null` as nil, merges a document into an existing value, or reads a whole new value.
    public mutating func _$merge(json reader: inout JSONReader) throws(JSONError) {
        if self == nil {
            self = try Self(json: &reader)
        } else if try reader.peek() == .null {
            try reader.null()
            self = nil
        } else {
            try self?._$merge(json: &reader)
        }
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads this value, or applies an operation below it.
    public mutating func _$apply(
        _ operation: StateChange.Operation,
        at path: ArraySlice<String>,
        index: Int?,
        json reader: inout JSONReader
    ) throws(JSONError) {
        if let name = path.first {
            guard self != nil else { throw Generated.StateCoding.noField(name, reader) }
            try self?._$apply(operation, at: path, index: index, json: &reader)
        } else {
            self = try Generated.StateCoding.whole(operation, json: &reader)
        }
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Finishes deferred work of the value, if there is one.
    @inlinable
    public mutating func _$settle() {
        self?._$settle()
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// True if the wrapped type is compared by its parts.
    @inlinable public static var _$isComparedByParts: Bool { Wrapped._$isComparedByParts }
}
