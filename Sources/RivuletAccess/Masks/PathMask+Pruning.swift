import RivuletBase
package import RivuletJSON

extension PathMask {
    /// Returns the granted part of the value at a path; nil if nothing of it is granted.
    ///
    /// - Objects have their granted members.
    /// - Arrays have their granted elements, which the paths name as key paths do. The elements of a keyed collection
    ///   are named by their ids, and keep them; those of any other array are named by their positions. The schema
    ///   decides: an array of objects with an `id` may be either. Where the schema has no array, or two different ones,
    ///   only a `*` of the mask grants elements.
    /// - An object or array without a granted value is empty if a path of the mask names it, and left out if only a
    ///   `*` does, because its name may be a secret.
    ///
    /// The path has no patterns: its tokens are literal.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - path: The path of the value.
    ///   - schema: The shape of the whole document.
    ///   - keepsID: True if the value keeps its `id` if it is an element of a keyed collection.
    /// - Returns: The granted part.
    package func prune(
        _ value: JSONValue,
        at path: JSONPointer,
        of schema: JSONSchema,
        keepsID: Bool = false
    ) -> JSONValue? {
        var (level, shape, isElement) = (Level(nodes: [root], isNamed: !isNone), MaskedShape(schema), false)
        for token in path.tokens {
            if level.isWhole { return value }
            isElement = shape.elementName == .id
            (level, shape) = (level.next(token), shape.next(token))
        }
        return level.prune(value, of: shape, keepsID: keepsID && isElement)
    }
}

/// The nodes of a mask that match the path of a value.
private struct Level {
    let nodes: [MaskNode]
    /// True if a path of the mask has the last token itself, and not `*`.
    let isNamed: Bool

    var isWhole: Bool { nodes.contains(where: \.isWhole) }

    func next(_ token: String) -> Level {
        let (token, wildcard) = (ByteText(token), ByteText(PathMask.wildcard))
        let own = token == wildcard ? [] : nodes.compactMap { $0.children[token] }
        let any = nodes.compactMap { $0.children[wildcard] }
        return Level(nodes: own + any, isNamed: !own.isEmpty)
    }

    /// The nodes of a `*` alone, for an element of which neither the id nor the position is a name.
    private var unnamedNext: Level {
        Level(nodes: nodes.compactMap { $0.children[ByteText(PathMask.wildcard)] }, isNamed: false)
    }

    /// The granted part of a value; an element of a keyed collection keeps its `id` if `keepsID` is true.
    func prune(_ value: JSONValue, of shape: MaskedShape, keepsID: Bool = false) -> JSONValue? {
        if isWhole { return value }
        guard !nodes.isEmpty else { return nil }
        switch value {
        case .object(let members): return pruned(members, of: shape, keepsID: keepsID)
        case .array(let elements): return pruned(elements, of: shape)
        case .null, .bool, .number, .string: return nil
        }
    }

    private func pruned(_ members: [JSONValue.Member], of shape: MaskedShape, keepsID: Bool) -> JSONValue? {
        var isEmpty = true
        let granted = members.compactMap { member -> JSONValue.Member? in
            if let value = next(member.name).prune(member.value, of: shape.member(member.name)) {
                isEmpty = false
                return JSONValue.Member(name: member.name, value: value)
            }
            return keepsID && member.name.hasSameBytes(as: Self.idName) ? member : nil
        }
        return isEmpty && !isNamed ? nil : .object(granted)
    }

    private func pruned(_ elements: [JSONValue], of shape: MaskedShape) -> JSONValue? {
        let granted = elements.enumerated().compactMap { index, element -> JSONValue? in
            let level: Level? =
                switch shape.elementName {
                case .id: Self.id(of: element).map(next)
                case .position: next(String(index))
                case .wildcard: nil
                }
            return (level ?? unnamedNext).prune(element, of: shape.element, keepsID: shape.elementName == .id)
        }
        return granted.isEmpty && !isNamed ? nil : .array(granted)
    }

    private static let idName = "id"

    /// The text of an element's id; nil if the value is no element of a keyed collection.
    private static func id(of element: JSONValue) -> String? {
        switch element[idName] {
        case .string(let text): text
        case .number(let text): text
        case .null, .bool, .array, .object, nil: nil
        }
    }
}
