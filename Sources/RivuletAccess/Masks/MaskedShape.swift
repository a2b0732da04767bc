import RivuletBase
import RivuletJSON

/// The shape of a value that is pruned: it decides how the paths of a mask name the elements of an array.
///
/// A class, because all elements of a collection have one shape, and the fields of a shape are listed once.
final class MaskedShape {
    /// The part of a path that names an element of an array.
    enum ElementName {
        /// The element's id, in a keyed collection.
        case id
        /// The element's position.
        case position
        /// Only a `*` names an element: the shape has no array, or its forms disagree.
        case wildcard
    }

    /// The forms that the value may have, without optionals and names of types.
    private let forms: [JSONSchema]
    private var members: [ByteText: MaskedShape] = [:]

    private(set) lazy var element = MaskedShape(forms.compactMap(Self.element))
    private(set) lazy var elementName: ElementName = {
        let arrays = forms.compactMap(Self.elementName)
        return arrays.first.flatMap { first in arrays.allSatisfy { $0 == first } ? first : nil } ?? .wildcard
    }()

    convenience init(_ schema: JSONSchema) { self.init([schema]) }

    private init(_ schemas: [JSONSchema]) { forms = schemas.flatMap(Self.forms) }

    /// The shape of an object's member.
    func member(_ name: String) -> MaskedShape {
        let key = ByteText(name)
        if let known = members[key] { return known }
        let shape = MaskedShape(forms.flatMap { Self.members(of: $0, name) })
        members[key] = shape
        return shape
    }

    /// The shape of the value that a token of a key path leads to, be it the name of a member or of an element.
    func next(_ token: String) -> MaskedShape {
        MaskedShape(member(token).forms + element.forms)
    }

    private static func forms(of schema: JSONSchema) -> [JSONSchema] {
        switch schema {
        case .optional(let schema), .annotated(let schema, _): forms(of: schema)
        case .named(_, _, let shape): forms(of: shape())
        case .oneOf(let schemas), .anyOf(let schemas): schemas.flatMap(forms)
        default: [schema]
        }
    }

    private static func members(of form: JSONSchema, _ name: String) -> [JSONSchema] {
        switch form {
        case .any: [.any]
        case .dictionary(let value): [value]
        case .object(_, _, let fields): fields().filter { $0.name.hasSameBytes(as: name) }.map(\.schema)
        default: []
        }
    }

    private static func element(of form: JSONSchema) -> JSONSchema? {
        switch form {
        case .any: .any
        case .array(let element), .keyed(let element, _): element
        default: nil
        }
    }

    private static func elementName(of form: JSONSchema) -> ElementName? {
        switch form {
        case .any, .array: .position
        case .keyed: .id
        default: nil
        }
    }
}
