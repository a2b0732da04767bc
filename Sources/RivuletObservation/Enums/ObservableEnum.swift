public import RivuletJSON

/// An enum in a state, whose payloads are tracked where they can be: an ``ObservableState`` that is a case's only value has key paths
/// of its own, `/mode/editing/city`.
///
/// Conform by the macro ``ObservableState()``, never by hand. JSON has the forms that events have: `"idle"`, `{"editing":{…}}`,
/// `{"failed":{"code":1,"reason":"x"}}`; Swift's own `{"editing":{"_0":{…}}}` is read too. Another case, and another payload that is
/// no tracked value, are one change at the enum's own key path.
///
/// The enum has no mark of its own. What its payload's mark says holds because the payload is entered together with the enum, and
/// under a serial that is the case's own.
public protocol ObservableEnum: StateNode, Codable, SendableMetatype {
    // swift-format-ignore: NoLeadingUnderscores
    /// The cases in the order of declaration.
    static var _$cases: [EventCase] { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// The cases with a single value without a label, in the order of declaration; their positions here are their indices.
    static var _$fields: [StateField] { get }

    // swift-format-ignore: NoLeadingUnderscores
    /// Offers the payload to an edit, if this value is of a case in ``_$fields``.
    ///
    /// - Throws: what the edit throws; this value then has what the edit left in the payload.
    mutating func _$editPayload<Edit: PayloadEdit>(_ edit: inout Edit) throws(Edit.Failure)
}

extension ObservableEnum {
    // swift-format-ignore: NoLeadingUnderscores
    /// Hands a serial of the case's own to the payload, if that can take one.
    @inlinable
    public mutating func _$enter(_ serial: UInt64) {
        var edit = PayloadEntry(mark: ChangeMark(serial: serial))
        _$editPayload(&edit)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// An enum is in no place itself; its payload is.
    @inlinable public var _$place: ObservedPlace? { nil }

    // swift-format-ignore: NoLeadingUnderscores
    /// Whether the payload is the one that is observed in its case at this place.
    public func _$isObserved(at place: ObservedPlace) -> Bool {
        var edit = PayloadIdentity(place: place)
        var copy = self
        copy._$editPayload(&edit)
        return edit.isObserved
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Hands the case's place to the payload, if that can take one.
    public mutating func _$observe(at place: ObservedPlace) {
        var edit = PayloadObservation(place: place)
        _$editPayload(&edit)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads a whole value: a document that mentions an enum mentions all of it.
    public mutating func _$merge(json reader: inout JSONReader) throws(JSONError) {
        self = try Self(json: &reader)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads this value, or does something below the payload of the case that it has.
    public mutating func _$apply(
        _ operation: StateChange.Operation,
        at path: ArraySlice<String>,
        index: Int?,
        json reader: inout JSONReader
    ) throws(JSONError) {
        guard let name = path.first else {
            return self = try StateCoding.whole(operation, json: &reader)
        }
        var edit = PayloadApplication(operation: operation, path: path, index: index, reader: reader)
        try _$editPayload(&edit)
        guard edit.isDone else { throw StateCoding.noField(name, reader) }
        reader = edit.reader
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Puts the payload in order.
    public mutating func _$settle() {
        var edit = PayloadSettling()
        _$editPayload(&edit)
    }

    /// Exactly one of the cases' shapes.
    public static var jsonSchema: JSONSchema {
        .named(title: "\(Self.self)", identity: ObjectIdentifier(Self.self)) { .oneOf(_$cases.map(\.schema)) }
    }

    /// Writes what is at a path, whose first token is the name of the case; false when there is no such value.
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
        try StateCoding.encode(self, to: encoder)
    }

    /// Reads any of the JSON forms from a decoder of any format.
    ///
    /// - Throws: what the decoder throws, or ``JSONError`` when the value does not fit this type.
    public init(from decoder: any Decoder) throws {
        try self.init(jsonFrom: decoder)
    }
}
