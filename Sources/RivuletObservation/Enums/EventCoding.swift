public import RivuletJSON

/// An enum that is read and written as JSON by the names of its cases.
///
/// The `@AppEvent` macro implements it. `case increment` is `"increment"`, and `case setCount(Int)` is
/// `{"setCount":5}`. Labelled or several values are an object: `{"move":{"x":1,"y":2}}`. Unlabelled values in it have
/// the keys `_0`, `_1` by position. The forms `{"increment":{}}` and Swift's own `{"setCount":{"_0":5}}` are read too.
public protocol EventCoding: JSONCodable, SendableMetatype {
    /// The cases in the order of declaration.
    static var eventCases: [EventCase] { get }

    /// The name of this event's case.
    var eventName: String { get }

    /// True if this event's payload must not be logged, because its case is marked `@Sensitive`.
    var isSensitive: Bool { get }

    /// True if clients must not dispatch this event, because its case is marked `@Internal`.
    ///
    /// The default implementation finds the event's case in ``eventCases``. `@AppEvent` generates a faster one.
    var isInternal: Bool { get }
}

extension EventCoding {
    /// True if ``eventCases`` marks the event's case as internal.
    public var isInternal: Bool { Self.eventCases.contains { $0.isInternal && $0.name == eventName } }

    /// One shape for each case: the form in which its events are written.
    public static var jsonSchema: JSONSchema {
        .named(title: "\(Self.self)", identity: ObjectIdentifier(Self.self)) { .oneOf(eventCases.map(\.schema)) }
    }

    /// One shape for each case that clients may dispatch: the form in which its events are written.
    public static var dispatchSchema: JSONSchema {
        .named(title: "\(Self.self)", identity: ObjectIdentifier(Self.self)) {
            .oneOf(clientCases.map(\.schema))
        }
    }

    /// The shapes of all accepted forms of the events that clients may dispatch; describe this schema in the direction
    /// `read`.
    public static var acceptedSchema: JSONSchema { .anyOf(clientCases.flatMap(\.acceptedSchemas)) }

    /// The cases that clients may dispatch, in the order of declaration.
    public static var clientCases: [EventCase] { eventCases.filter { !$0.isInternal } }
}

/// The description of one case of an event enum or of an enum in a state.
public struct EventCase: Sendable {
    /// One value of a case.
    public struct Payload: Sendable {
        /// The label, if it has one.
        public let label: String?
        /// The shape of the value's JSON.
        public let schema: JSONSchema
        /// True if the value must be present, because there is no default and no value for an absent key.
        public let isRequired: Bool
        /// The fields that have key paths below the value.
        let addressed: (@Sendable () -> [StateField])?
        /// The type of the value.
        let type: Any.Type

        /// Describes a value.
        public init<Value: JSONCodable>(_ label: String?, _ type: Value.Type, hasDefault: Bool = false) {
            self.label = label
            schema = Value.jsonSchema
            isRequired = !hasDefault && Value.jsonAbsent == nil
            addressed = addressedFields(of: type)
            self.type = type
        }

        /// Describes a value that is only Codable, from its type.
        @_disfavoredOverload
        public init<Value: Codable>(_ label: String?, _ type: Value.Type, hasDefault: Bool = false) {
            self.label = label
            schema = CodableJSON.jsonSchema(of: type)
            isRequired = !hasDefault
            addressed = nil
            self.type = type
        }

        /// Returns the key of the value at this position among several values.
        func key(at index: Int) -> String { label ?? "_\(index)" }
    }

    /// The case's name, which is the event's name in JSON.
    public let name: String
    /// The case's values in order.
    public let payload: [Payload]
    /// True if the payload must not be logged.
    public let isSensitive: Bool
    /// True if clients must not dispatch events of this case.
    public let isInternal: Bool

    /// Describes a case.
    public init(_ name: String, payload: [Payload] = [], isSensitive: Bool = false, isInternal: Bool = false) {
        self.name = name
        self.payload = payload
        self.isSensitive = isSensitive
        self.isInternal = isInternal
    }

    /// The shape of the events of this case, in the form in which they are written.
    public var schema: JSONSchema {
        guard let value else { return .constant(name) }
        return Self.object(name, value)
    }

    /// The shapes of all forms in which events of this case are read; a value can fit more than one of them.
    ///
    /// If the payload is a state, its schema allows further keys. So `{"set":{"_0":wrong}}` fits the schema of the
    /// short form, in which `_0` is a further key. The reader refuses wrong values and further keys nevertheless.
    /// Source: <Documentation/HTTP.md#dispatch>.
    public var acceptedSchemas: [JSONSchema] {
        let needsNothing = payload.allSatisfy { !$0.isRequired }
        guard let value else { return [.constant(name), Self.object(name, Self.nothing)] }
        var forms = [Self.object(name, isSingle ? value : Self.closed(value))]
        if isSingle {
            forms.append(Self.object(name, Self.object("_0", value)))
            if needsNothing { forms.append(Self.object(name, Self.nothing)) }
        }
        return needsNothing ? [.constant(name)] + forms : forms
    }

    /// True if the payload is one value without a label; the value is then written without a key.
    private var isSingle: Bool { payload.count == 1 && payload.first?.label == nil }

    /// The shape of the payload under the case's name; nil if the case has no values.
    var value: JSONSchema? {
        guard let first = payload.first else { return nil }
        if isSingle { return first.schema }
        let fields = payload.enumerated().map { index, value in
            JSONSchema.Field(
                name: value.key(at: index),
                schema: value.schema,
                isRequiredToRead: value.isRequired
            )
        }
        return .object(title: "") { fields }
    }

    /// The shape of `{}`.
    private static var nothing: JSONSchema {
        .annotated(.object(title: "") { [] }, [JSONSchema.Annotation("maxProperties", 0)])
    }

    /// An object with this key and no other.
    private static func object(_ name: String, _ schema: JSONSchema) -> JSONSchema {
        let fields = [JSONSchema.Field(name: name, schema: schema)]
        return closed(.object(title: "") { fields })
    }

    /// Returns the object's shape without further keys, because dispatch refuses them.
    private static func closed(_ object: JSONSchema) -> JSONSchema {
        .annotated(object, [JSONSchema.Annotation("additionalProperties", false)])
    }
}
