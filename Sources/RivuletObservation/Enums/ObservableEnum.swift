public import RivuletJSON

/// An enum in a state.
///
/// If a case's only value is an ``ObservableState``, this payload is tracked: its fields have key paths of their own,
/// such as `/mode/editing/city`.
///
/// Conform by the macro ``ObservableState()``, never by hand. The JSON forms are the same as for events: `"idle"`,
/// `{"editing":{…}}`, `{"failed":{"code":1,"reason":"x"}}`. Swift's own `{"editing":{"_0":{…}}}` is read too. A change
/// to another case is one change at the enum's own key path. A new value of an untracked payload is also one change
/// there.
///
/// The enum has no ``ChangeMark`` of its own. A tracked payload has one: `_$enter` passes the payload a serial that
/// belongs to the case.
public protocol ObservableEnum: StateNode, Codable, SendableMetatype {
    // swift-format-ignore: NoLeadingUnderscores
    /// The cases in the order of declaration.
    static var _$cases: [EventCase] { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// The cases with a single value without a label, in the order of declaration; a position in this array is the
    /// case's field index.
    static var _$fields: [StateField] { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// Passes the payload to an edit, if ``_$fields`` has this value's case.
    ///
    /// - Throws: the error of the edit; this value then keeps what the edit has written to the payload.
    mutating func _$editPayload<Edit: Generated.PayloadEdit>(_ edit: inout Edit) throws(Edit.Failure)
}

extension ObservableEnum {
    // swift-format-ignore: NoLeadingUnderscores
    /// Passes the serial of the current case to the payload, if the payload has a mark.
    @inlinable
    public mutating func _$enter(_ serial: UInt64) {
        var edit = PayloadEntry(mark: ChangeMark(serial: serial))
        _$editPayload(&edit)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Always nil: an enum has no observed node itself; its payload has one.
    @inlinable public var _$node: Generated.ObservedNode? { nil }

    // swift-format-ignore: NoLeadingUnderscores
    /// Returns true if the payload is observed at the node of its case, below this node.
    public func _$isObserved(at node: Generated.ObservedNode) -> Bool {
        var edit = PayloadIdentity(node: node)
        var copy = self
        copy._$editPayload(&edit)
        return edit.isObserved
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Passes the case's node to the payload, if the payload can be observed.
    public mutating func _$observe(at node: Generated.ObservedNode) {
        var edit = PayloadObservation(node: node)
        _$editPayload(&edit)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads a whole value: a document replaces an enum, and does not merge into it.
    public mutating func _$merge(json reader: inout JSONReader) throws(JSONError) {
        self = try Self(json: &reader)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads this value, or applies an operation below the payload of its current case.
    public mutating func _$apply(
        _ operation: StateChange.Operation,
        at path: ArraySlice<String>,
        index: Int?,
        json reader: inout JSONReader
    ) throws(JSONError) {
        guard let name = path.first else {
            return self = try Generated.StateCoding.whole(operation, json: &reader)
        }
        var edit = PayloadApplication(operation: operation, path: path, index: index, reader: reader)
        try _$editPayload(&edit)
        guard edit.isDone else { throw Generated.StateCoding.noField(name, reader) }
        reader = edit.reader
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Finishes deferred work of the payload.
    public mutating func _$settle() {
        var edit = PayloadSettling()
        _$editPayload(&edit)
    }

    /// Exactly one of the cases' shapes.
    public static var jsonSchema: JSONSchema {
        .named(title: "\(Self.self)", identity: ObjectIdentifier(Self.self)) { .oneOf(_$cases.map(\.schema)) }
    }

    /// Writes the value at a path that begins with the name of the case; returns false if there is no such value.
    public func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        guard !path.isEmpty else {
            encodeJSON(into: &writer)
            return true
        }
        var edit = PayloadWriting(path: path, like: writer)
        var copy = self
        copy._$editPayload(&edit)
        if !edit.isPayload { edit.writeValue(of: self) }
        guard edit.isFound else { return false }
        if edit.writer.hasUnrepresentableNumber { writer.unrepresentable() } else { writer.raw(edit.writer) }
        return true
    }

    /// Writes the JSON form into an encoder of any format.
    ///
    /// - Throws: `EncodingError.invalidValue` for a NaN or an infinity, and what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try Generated.StateCoding.encode(self, to: encoder)
    }

    /// Reads any of the JSON forms from a decoder of any format.
    ///
    /// - Throws: what the decoder throws, or ``JSONError`` if the value does not fit this type.
    public init(from decoder: any Decoder) throws {
        try self.init(jsonFrom: decoder)
    }
}
