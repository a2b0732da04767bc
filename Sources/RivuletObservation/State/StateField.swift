public import RivuletJSON

/// The description of one field of a state.
public struct StateField: Sendable {
    /// The name in code and in JSON.
    public let name: String
    /// The shape of the field's JSON, with the additions of its wrapper.
    public let schema: JSONSchema
    /// The shape of the values that can be read into the field; a wrapper may change a value, but refuses none.
    public let accepted: JSONSchema
    /// True if a document for a new state must have the field.
    public let isRequiredToRead: Bool
    /// The wrapper's name without its type arguments, if the field has one.
    public let wrapper: String?
    /// The wrapper's configuration as written in the source, if it has one.
    public let config: String?
    /// True if the field is in memory and visible to clients but never on disk.
    public let isTransient: Bool
    /// True if the field is in no JSON at all.
    public let isOmitted: Bool
    /// The fields of the nested state or of the keyed collection's elements, if the field holds one of these.
    ///
    /// Evaluated on demand, because types may be recursive.
    public let nested: (@Sendable () -> [StateField])?
    /// All fields with a key path below the field: ``nested``, and for an enum every case with values, in the order of
    /// declaration.
    ///
    /// Evaluated on demand, because types may be recursive.
    public let addressed: (@Sendable () -> [StateField])?
    /// The type of the field's values.
    let type: Any.Type

    /// The field of a state's schema.
    func schemaField<State: ObservableState>(of state: State.Type) -> JSONSchema.Field {
        JSONSchema.Field(
            name: name,
            schema: isTransient ? .annotated(schema, [JSONSchema.Annotation("x-rivulet-transient", true)]) : schema,
            accepted: accepted,
            isRequiredToRead: isRequiredToRead,
            defaultValue: { defaultValue(of: state) }
        )
    }

    /// The JSON of the field's initial value, as its wrapper changed it; nil if the field has no default in its schema.
    ///
    /// A value that differs each time, such as a new id or the present time, is no default. A number that JSON cannot
    /// represent is no default either, nor is a value with an order that differs between processes.
    private func defaultValue<State: ObservableState>(of state: State.Type) -> JSONValue? {
        func bytes() -> [UInt8]? {
            var writer = JSONWriter()
            writer.isCanonical = true
            guard let position = State._$position(of: name), State._$encodeDefault(of: position, into: &writer) else {
                return nil
            }
            return writer.hasUnrepresentableNumber || writer.hasOtherText ? nil : writer.bytes
        }
        guard let once = bytes(), once == bytes() else { return nil }
        do throws(JSONError) {
            return try JSONValue(parsing: once)
        } catch {
            // A type of the app that writes invalid JSON has no default either.
            return nil
        }
    }
}

extension StateField {
    /// Returns the name of a wrapper without module and type arguments; generated code calls this function.
    public static func name(of wrapper: Any.Type) -> String {
        String("\(wrapper)".prefix { $0 != "<" })
    }

    /// Returns the position of a field among names that are separated by newlines; nil if the name is not among them.
    ///
    /// No name in Swift has a newline. Generated code calls this function.
    public static func position(of name: String, in names: String) -> Int? {
        let name = name.utf8.span
        let names = names.utf8.span
        var position = 0
        var start = 0
        while start < names.count {
            var end = start
            var isEqual = true
            while end < names.count, names[end] != UInt8(ascii: "\n") {
                isEqual = isEqual && end - start < name.count && names[end] == name[end - start]
                end += 1
            }
            if isEqual, end - start == name.count { return position }
            position += 1
            start = end + 1
        }
        return nil
    }
}

// Generated code calls these initialisers. The field's type, which the key path to the storage gives, selects one.
extension StateField {
    /// Describes a field.
    public init<State, Value: JSONCodable>(
        _ name: String,
        _ storage: KeyPath<State, Value>,
        hasDefault: Bool = false,
        isTransient: Bool = false
    ) {
        self.init(
            name: name,
            schema: Value.jsonSchema,
            accepted: Value.jsonSchema,
            isRequiredToRead: !hasDefault && Value.jsonAbsent == nil,
            wrapper: nil,
            config: nil,
            isTransient: isTransient,
            isOmitted: false,
            nested: stateFields(of: Value.self),
            addressed: addressedFields(of: Value.self),
            type: Value.self
        )
    }

    /// Describes a field that is only Codable, from its type.
    @_disfavoredOverload
    public init<State, Value: Codable>(
        _ name: String,
        _ storage: KeyPath<State, Value>,
        hasDefault: Bool = false,
        isTransient: Bool = false
    ) {
        let schema = CodableJSON.jsonSchema(of: Value.self)
        self.init(
            name: name,
            schema: schema,
            accepted: schema,
            isRequiredToRead: !hasDefault,
            wrapper: nil,
            config: nil,
            isTransient: isTransient,
            isOmitted: false,
            nested: nil,
            addressed: nil,
            type: Value.self
        )
    }

    /// Describes a field in a wrapper.
    public init<State, Wrapper: ObservableWrapper>(
        _ name: String,
        wrapper storage: KeyPath<State, Wrapper>,
        named wrapper: String,
        config: Wrapper.Config,
        text: String?,
        hasDefault: Bool = false,
        isTransient: Bool = false
    ) where Wrapper.WrappedValue: JSONCodable {
        let value = Wrapper.WrappedValue.jsonSchema
        self.init(
            name: name,
            schema: Wrapper.jsonSchema(of: value, config: config),
            accepted: value,
            isRequiredToRead: !hasDefault && Wrapper.WrappedValue.jsonAbsent == nil,
            wrapper: wrapper,
            config: text,
            isTransient: isTransient,
            isOmitted: Wrapper.isOmittedFromCoding,
            nested: stateFields(of: Wrapper.WrappedValue.self),
            addressed: addressedFields(of: Wrapper.WrappedValue.self),
            type: Wrapper.WrappedValue.self
        )
    }

    /// Describes a field that is only Codable, in a wrapper.
    @_disfavoredOverload
    public init<State, Wrapper: ObservableWrapper>(
        _ name: String,
        wrapper storage: KeyPath<State, Wrapper>,
        named wrapper: String,
        config: Wrapper.Config,
        text: String?,
        hasDefault: Bool = false,
        isTransient: Bool = false
    ) where Wrapper.WrappedValue: Codable {
        let value = CodableJSON.jsonSchema(of: Wrapper.WrappedValue.self)
        self.init(
            name: name,
            schema: Wrapper.jsonSchema(of: value, config: config),
            accepted: value,
            isRequiredToRead: !hasDefault,
            wrapper: wrapper,
            config: text,
            isTransient: isTransient,
            isOmitted: Wrapper.isOmittedFromCoding,
            nested: nil,
            addressed: nil,
            type: Wrapper.WrappedValue.self
        )
    }
}

// The payload of an enum's case, as a field with the case's name.
extension StateField {
    /// Describes the single value of a case.
    public init<Value: JSONCodable>(_ name: String, payload type: Value.Type) {
        self.init(
            name: name,
            schema: Value.jsonSchema,
            accepted: Value.jsonSchema,
            isRequiredToRead: Value.jsonAbsent == nil,
            wrapper: nil,
            config: nil,
            isTransient: false,
            isOmitted: false,
            nested: stateFields(of: type),
            addressed: addressedFields(of: type),
            type: type
        )
    }

    /// Describes the single value of a case that is only Codable, from its type.
    @_disfavoredOverload
    public init<Value: Codable>(_ name: String, payload type: Value.Type) {
        let schema = CodableJSON.jsonSchema(of: type)
        self.init(
            name: name,
            schema: schema,
            accepted: schema,
            isRequiredToRead: true,
            wrapper: nil,
            config: nil,
            isTransient: false,
            isOmitted: false,
            nested: nil,
            addressed: nil,
            type: type
        )
    }
}

/// Returns the fields of a nested state, the cases of a nested enum, or the fields of a keyed collection's elements.
///
/// For an optional, it returns the fields of the wrapped type.
private func stateFields(of type: Any.Type) -> (@Sendable () -> [StateField])? {
    if let state = type as? any ObservableState.Type { return { state._$fields } }
    if let cases = type as? any ObservableEnum.Type { return { cases._$fields } }
    if let holder = type as? any StateHolder.Type { return stateFields(of: holder.held) }
    return nil
}

/// Returns the fields that have key paths below a value of a type.
func addressedFields(of type: Any.Type) -> (@Sendable () -> [StateField])? {
    if let holder = type as? any StateHolder.Type { return addressedFields(of: holder.held) }
    guard let cases = type as? any ObservableEnum.Type else { return stateFields(of: type) }
    return {
        let singles = cases._$fields
        return cases._$cases.filter { !$0.payload.isEmpty }.map { element in
            singles.first { $0.name == element.name } ?? StateField(element)
        }
    }
}

extension StateField {
    /// Describes a case with several or labelled values, which are not tracked but have key paths.
    fileprivate init(_ element: EventCase) {
        self.init(element.name, element.value ?? .any) {
            element.payload.enumerated().map { index, value in
                StateField(value.key(at: index), value.schema, addressed: value.addressed)
            }
        }
    }

    /// Describes a value that has a key path but is no field of its own.
    init(_ name: String, _ schema: JSONSchema, addressed: (@Sendable () -> [StateField])?) {
        self.init(
            name: name,
            schema: schema,
            accepted: schema,
            isRequiredToRead: true,
            wrapper: nil,
            config: nil,
            isTransient: false,
            isOmitted: false,
            nested: nil,
            addressed: addressed,
            type: Any.self
        )
    }
}

/// A type that may hold a nested state.
private protocol StateHolder {
    static var held: Any.Type { get }
}

extension Optional: StateHolder {
    static var held: Any.Type { Wrapped.self }
}

extension Keyed: StateHolder {
    static var held: Any.Type { Element.self }
}
