import RivuletBase

/// The shape of a type's JSON.
///
/// Objects list their fields only on request, so that recursive types can describe themselves.
/// Source: <https://json-schema.org/draft/2020-12>.
public indirect enum JSONSchema: Sendable {
    /// The direction of a description: the values that a type writes, or the values that it reads.
    ///
    /// The two differ in objects. A key with a default is always written but may be missing when read. A wrapper
    /// accepts values that it then changes.
    public enum Direction: Sendable {
        /// The values that a type writes.
        case written
        /// The values that a type reads.
        case read
    }

    /// One field of an object.
    public struct Field: Sendable {
        /// The key.
        public let name: String
        /// The shape of the value as it is written under the key.
        public let schema: JSONSchema
        /// True if the key is always written.
        public let isRequired: Bool
        /// The shape of the values that are accepted under the key.
        public let accepted: JSONSchema
        /// True if the key must be present when the object is read.
        public let isRequiredToRead: Bool
        /// Makes the value that is read if the key is missing, provided that this value is always the same.
        ///
        /// It is a closure because most users of a schema never need the value.
        public let defaultValue: (@Sendable () -> JSONValue?)?

        /// Creates a field; by default, it accepts the same values that it writes.
        public init(
            name: String,
            schema: JSONSchema,
            isRequired: Bool = true,
            accepted: JSONSchema? = nil,
            isRequiredToRead: Bool? = nil,
            defaultValue: (@Sendable () -> JSONValue?)? = nil
        ) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
            self.accepted = accepted ?? schema
            self.isRequiredToRead = isRequiredToRead ?? isRequired
            self.defaultValue = defaultValue
        }

        package func schema(_ direction: Direction) -> JSONSchema { direction == .written ? schema : accepted }

        package func isRequired(_ direction: Direction) -> Bool {
            direction == .written ? isRequired : isRequiredToRead
        }
    }

    /// The identity of an object type: the type, or its title if no type is given.
    package enum Identity: Hashable, Sendable {
        case type(ObjectIdentifier)
        case title(String)

        package init(_ title: String, _ type: ObjectIdentifier?) {
            self = type.map(Identity.type) ?? .title(title)
        }
    }

    /// An additional keyword of a schema.
    public struct Annotation: Hashable, Sendable {
        /// The keyword; it replaces the schema's own keyword of the same name.
        public let name: String
        /// The keyword's value.
        public let value: JSONValue

        /// Creates an annotation.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Any value.
    case any
    /// Only `null`.
    case null
    /// `true` or `false`.
    case boolean
    /// A whole number between inclusive bounds; `values` lists the only valid numbers.
    case integer(values: [Int128]? = nil, minimum: Int128? = nil, maximum: Int128? = nil, format: String? = nil)
    /// A number.
    case number(format: String? = nil)
    /// A string; `values` lists the only valid strings.
    case string(values: [String]? = nil, format: String? = nil)
    /// An array with elements that are addressed by index.
    case array(JSONSchema)
    /// An array with elements that are addressed by their ids; `isID` returns true for a token that can be an id.
    case keyed(JSONSchema, isID: @Sendable (String) -> Bool = { _ in true })
    /// An object of any keys with values of one shape.
    case dictionary(JSONSchema)
    /// The wrapped shape, or `null`.
    case optional(JSONSchema)
    /// An object of known fields; `identity` distinguishes types with the same title.
    ///
    /// An object with an empty title is described in place, and not as a definition with a name.
    case object(title: String, identity: ObjectIdentifier? = nil, fields: @Sendable () -> [Field])
    /// Exactly one of several shapes.
    case oneOf([JSONSchema])
    /// One or more of several shapes.
    case anyOf([JSONSchema])
    /// A type's own shape, which a schema document defines once, under the title.
    ///
    /// The shape is computed on request, because types may be recursive.
    case named(title: String, identity: ObjectIdentifier, shape: @Sendable () -> JSONSchema)
    /// A shape with additional keywords.
    case annotated(JSONSchema, [Annotation])

    /// Exactly this string.
    public static func constant(_ value: String) -> JSONSchema {
        .string(values: [value])
    }

    /// The only values of this shape, or of the elements of a collection of this shape, as JSON text.
    ///
    /// Empty if the values are unknown.
    var knownValues: [String] {
        switch self {
        case .string(let values?, _): values.map { JSONValue.string($0).description }
        case .integer(let values?, _, _, _): values.map(String.init)
        case .optional(let schema), .array(let schema), .dictionary(let schema): schema.knownValues
        default: []
        }
    }

    /// The number of ids in the path to an innermost element: 0 if this is no keyed collection, more than 1 for nested
    /// collections.
    public var keyedDepth: Int {
        switch self {
        case .keyed(let element, _): 1 + element.keyedDepth
        case .optional(let schema), .annotated(let schema, _): schema.keyedDepth
        default: 0
        }
    }

    /// Returns true if a value of this shape can have a value at `path`, a path of unescaped tokens.
    ///
    /// With `wildcards` a token `*` stands for any one token. Without `checksIDs` any token passes as an element's
    /// id. The result then says only that the fields on the path exist.
    public func accepts(path: ArraySlice<String>, wildcards: Bool = false, checksIDs: Bool = true) -> Bool {
        guard let token = path.first else { return true }
        let rest = path.dropFirst()
        let isWildcard = wildcards && token == "*"
        switch self {
        case .any: return true
        case .null, .boolean, .integer, .number, .string: return false
        case .array(let element):
            return (isWildcard || JSONPointer.index(token) != nil)
                && element.accepts(path: rest, wildcards: wildcards, checksIDs: checksIDs)
        case .keyed(let element, let isID):
            return (isWildcard || !checksIDs || isID(token))
                && element.accepts(path: rest, wildcards: wildcards, checksIDs: checksIDs)
        case .dictionary(let element): return element.accepts(path: rest, wildcards: wildcards, checksIDs: checksIDs)
        case .optional(let schema), .annotated(let schema, _):
            return schema.accepts(path: path, wildcards: wildcards, checksIDs: checksIDs)
        case .object(_, _, let fields):
            return fields().contains {
                (isWildcard || $0.name.hasSameBytes(as: token))
                    && $0.schema.accepts(path: rest, wildcards: wildcards, checksIDs: checksIDs)
            }
        case .oneOf(let schemas), .anyOf(let schemas):
            return schemas.contains { $0.accepts(path: path, wildcards: wildcards, checksIDs: checksIDs) }
        case .named(_, _, let shape): return shape().accepts(path: path, wildcards: wildcards, checksIDs: checksIDs)
        }
    }
}
