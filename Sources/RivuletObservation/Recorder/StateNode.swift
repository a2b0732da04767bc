public import RivuletJSON

/// A value whose inner writes are tracked.
///
/// An ``ObservableState``, an ``ObservableEnum``, a ``Keyed`` collection of such values, or an optional one of these.
///
/// Generated code calls these members; applications do not.
public protocol StateNode: JSONCodable, StateBearing {
    // swift-format-ignore: NoLeadingUnderscores
    /// Takes the serial of a place, with nothing written yet.
    mutating func _$enter(_ serial: UInt64)

    // swift-format-ignore: NoLeadingUnderscores
    /// Where this value is observed; nil: nowhere.
    var _$place: ObservedPlace? { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// Whether this value is the one that is observed at a place.
    func _$isObserved(at place: ObservedPlace) -> Bool

    // swift-format-ignore: NoLeadingUnderscores
    /// Whether there is no value: a nil.
    var _$isAbsent: Bool { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// Takes a place at which it is observed.
    mutating func _$observe(at place: ObservedPlace)

    // swift-format-ignore: NoLeadingUnderscores
    /// Reports the differing fields; false, with nothing reported, when the values must be compared whole.
    ///
    /// A nil `serial` asks for every field to be compared.
    static func _$collect(from old: Self, to new: Self, serial: UInt64?, into collector: inout ChangeCollector) -> Bool

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads a partial document over this value: absent keys keep their value.
    ///
    /// - Throws: an error of the document; keys read before it have been written.
    mutating func _$merge(json reader: inout JSONReader) throws(JSONError)

    // swift-format-ignore: NoLeadingUnderscores
    /// Does what a ``StateChange`` recorded at a path below this value; an empty path is this value itself.
    ///
    /// - Throws: an error of the document, or `mismatch` when there is no such place; nothing is written then.
    mutating func _$apply(
        _ operation: StateChange.Operation,
        at path: ArraySlice<String>,
        index: Int?,
        json reader: inout JSONReader
    ) throws(JSONError)

    // swift-format-ignore: NoLeadingUnderscores
    /// Puts in order, between two runs, what the last run left behind to be quick; no part of the value changes.
    mutating func _$settle()

    // swift-format-ignore: NoLeadingUnderscores
    /// Whether a replaced value is reported by its parts, as if it had been edited.
    static var _$isComparedByParts: Bool { get }
}

extension StateNode {
    // swift-format-ignore: NoLeadingUnderscores
    /// Nothing is left behind.
    @inlinable
    public mutating func _$settle() {}

    // swift-format-ignore: NoLeadingUnderscores
    /// A replaced value is reported as a whole.
    @inlinable public static var _$isComparedByParts: Bool { false }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads the value at a path below this one; an empty path is this value itself.
    ///
    /// - Throws: an error of the document, or `mismatch` when there is no such place; nothing is written then.
    public mutating func _$replace(at path: ArraySlice<String>, json reader: inout JSONReader) throws(JSONError) {
        try _$apply(.replace, at: path, index: nil, json: &reader)
    }
}

extension StateNode {
    // swift-format-ignore: NoLeadingUnderscores
    /// A value that is in a place itself is observed there.
    @inlinable
    public func _$isObserved(at place: ObservedPlace) -> Bool { _$place === place }

    // swift-format-ignore: NoLeadingUnderscores
    /// A value that is no optional is there.
    @inlinable public var _$isAbsent: Bool { false }
}

extension Optional: StateNode where Wrapped: StateNode {
    // swift-format-ignore: NoLeadingUnderscores
    /// Hands the serial to the value, if there is one.
    @inlinable
    public mutating func _$enter(_ serial: UInt64) {
        self?._$enter(serial)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// The place of the value, if there is one.
    @inlinable public var _$place: ObservedPlace? { self?._$place }

    // swift-format-ignore: NoLeadingUnderscores
    /// Whether there is a value and it is the one that is observed at a place.
    @inlinable
    public func _$isObserved(at place: ObservedPlace) -> Bool { self?._$isObserved(at: place) ?? false }

    // swift-format-ignore: NoLeadingUnderscores
    /// Whether it is nil.
    @inlinable public var _$isAbsent: Bool { if case .none = self { true } else { false } }

    // swift-format-ignore: NoLeadingUnderscores
    /// Hands the place to the value, if there is one.
    @inlinable
    public mutating func _$observe(at place: ObservedPlace) {
        self?._$observe(at: place)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reports the differing fields of two values; a nil on either side is compared whole.
    @inlinable
    public static func _$collect(
        from old: Wrapped?,
        to new: Wrapped?,
        serial: UInt64?,
        into collector: inout ChangeCollector
    ) -> Bool {
        guard let old, let new else { return false }
        return Wrapped._$collect(from: old, to: new, serial: serial, into: &collector)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads `null` as nil, a document over an existing value, or a whole new value.
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
    /// Reads this value, or does something below it.
    public mutating func _$apply(
        _ operation: StateChange.Operation,
        at path: ArraySlice<String>,
        index: Int?,
        json reader: inout JSONReader
    ) throws(JSONError) {
        if let name = path.first {
            guard self != nil else { throw StateCoding.noField(name, reader) }
            try self?._$apply(operation, at: path, index: index, json: &reader)
        } else {
            self = try StateCoding.whole(operation, json: &reader)
        }
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Puts the value in order, if there is one.
    @inlinable
    public mutating func _$settle() {
        self?._$settle()
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// As the value is.
    @inlinable public static var _$isComparedByParts: Bool { Wrapped._$isComparedByParts }
}
