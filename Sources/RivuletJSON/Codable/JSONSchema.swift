/// The shape of a type's JSON.
///
/// Objects list their fields only when asked, so that recursive types can describe themselves.
/// Source: <https://json-schema.org/draft/2020-12>.
public indirect enum JSONSchema: Sendable {
    /// Which values a description is about: those that are written, or those that are taken when they are read.
    ///
    /// They differ in objects: a key with a default is always written but may be missing, and a wrapper takes values that it then
    /// changes.
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
        /// The shape of the value under the key as it is written.
        public let schema: JSONSchema
        /// Whether the key is always written.
        public let isRequired: Bool
        /// The shape of the values that are taken under the key.
        public let accepted: JSONSchema
        /// Whether the key must be there to be read.
        public let isRequiredToRead: Bool
        /// Makes the value that stands for a missing key, if there is one that is always the same.
        ///
        /// A closure, because most users of a schema never ask.
        public let standard: (@Sendable () -> JSONValue?)?

        /// Creates a field; what is read is what is written unless said otherwise.
        public init(
            name: String,
            schema: JSONSchema,
            isRequired: Bool = true,
            accepted: JSONSchema? = nil,
            isRequiredToRead: Bool? = nil,
            standard: (@Sendable () -> JSONValue?)? = nil
        ) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
            self.accepted = accepted ?? schema
            self.isRequiredToRead = isRequiredToRead ?? isRequired
            self.standard = standard
        }

        package func schema(_ direction: Direction) -> JSONSchema { direction == .written ? schema : accepted }

        package func isRequired(_ direction: Direction) -> Bool {
            direction == .written ? isRequired : isRequiredToRead
        }
    }

    /// What tells one object type from another: the type, or its title when no type is given.
    package enum Identity: Hashable, Sendable {
        case type(ObjectIdentifier)
        case title(String)

        package init(_ title: String, _ type: ObjectIdentifier?) {
            self = type.map(Identity.type) ?? .title(title)
        }
    }

    /// One more keyword of a schema.
    public struct Annotation: Hashable, Sendable {
        /// The keyword; it takes the place of the schema's own one of this name.
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
    /// A whole number between bounds that belong to it; `values` are the only ones allowed.
    case integer(values: [Int128]? = nil, minimum: Int128? = nil, maximum: Int128? = nil, format: String? = nil)
    /// A number.
    case number(format: String? = nil)
    /// A string; `values` are the only ones allowed.
    case string(values: [String]? = nil, format: String? = nil)
    /// An array whose elements are addressed by index.
    case array(JSONSchema)
    /// An array whose elements are addressed by their ids; `isID` says whether a token can be one.
    case keyed(JSONSchema, isID: @Sendable (String) -> Bool = { _ in true })
    /// An object of any keys whose values have one shape.
    case dictionary(JSONSchema)
    /// The wrapped shape, or `null`.
    case optional(JSONSchema)
    /// An object of known fields; `identity` tells types of one title apart, an empty title makes no definition.
    case object(title: String, identity: ObjectIdentifier? = nil, fields: @Sendable () -> [Field])
    /// Exactly one of several shapes.
    case oneOf([JSONSchema])
    /// One or more of several shapes.
    case anyOf([JSONSchema])
    /// A shape that is a type's own, and is written once under the title; asked for when needed, since types may be recursive.
    case named(title: String, identity: ObjectIdentifier, shape: @Sendable () -> JSONSchema)
    /// A shape with more keywords.
    case annotated(JSONSchema, [Annotation])

    /// Exactly this string.
    public static func constant(_ value: String) -> JSONSchema {
        .string(values: [value])
    }

    /// The only values of this shape, or of the elements of a collection of this shape, as JSON text; empty when they are not told.
    var knownValues: [String] {
        switch self {
        case .string(let values?, _): values.map { JSONValue.string($0).description }
        case .integer(let values?, _, _, _): values.map(String.init)
        case .optional(let schema), .array(let schema), .dictionary(let schema): schema.knownValues
        default: []
        }
    }

    /// How many ids lead to what this shape keeps by id: 0 for all but keyed collections, more than 1 for such in such.
    public var keyedDepth: Int {
        switch self {
        case .keyed(let element, _): 1 + element.keyedDepth
        case .optional(let schema), .annotated(let schema, _): schema.keyedDepth
        default: 0
        }
    }

    /// Whether a value of this shape can have something at `path`, whose tokens are unescaped.
    ///
    /// With `wildcards` a token `*` stands for any one token. Without `checksIDs` any token passes for an element's id, which says
    /// whether the fields on the way are there, however ids were spelled when the path was written.
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
                (isWildcard || $0.name == token)
                    && $0.schema.accepts(path: rest, wildcards: wildcards, checksIDs: checksIDs)
            }
        case .oneOf(let schemas), .anyOf(let schemas):
            return schemas.contains { $0.accepts(path: path, wildcards: wildcards, checksIDs: checksIDs) }
        case .named(_, _, let shape): return shape().accepts(path: path, wildcards: wildcards, checksIDs: checksIDs)
        }
    }
}
