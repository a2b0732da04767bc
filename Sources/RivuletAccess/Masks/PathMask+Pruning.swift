import RivuletBase
package import RivuletJSON

extension PathMask {
    /// Returns the granted part of the value at a path; nil if nothing of it is granted.
    ///
    /// - Objects have their granted members.
    /// - Arrays have their granted elements. If all elements are objects with an `id`, the elements are named by their
    ///   ids and keep them. Otherwise they are named by their positions.
    /// - An object or array without a granted value is empty if a path of the mask names it, and left out if only a
    ///   `*` does, because its name may be a secret.
    ///
    /// The path has no patterns: its tokens are literal.
    package func prune(_ value: JSONValue, at path: JSONPointer) -> JSONValue? {
        var level = Level(nodes: [root], isNamed: !isNone)
        for token in path.tokens {
            if level.isWhole { return value }
            level = level.next(token)
        }
        return level.prune(value)
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

    func prune(_ value: JSONValue) -> JSONValue? {
        if isWhole { return value }
        guard !nodes.isEmpty else { return nil }
        switch value {
        case .object(let members): return pruned(members, keepsID: false)
        case .array(let elements): return pruned(elements)
        case .null, .bool, .number, .string: return nil
        }
    }

    /// The granted members; an element of a keyed collection keeps its `id`.
    private func pruned(_ members: [JSONValue.Member], keepsID: Bool) -> JSONValue? {
        var isEmpty = true
        let granted = members.compactMap { member -> JSONValue.Member? in
            if let value = next(member.name).prune(member.value) {
                isEmpty = false
                return JSONValue.Member(name: member.name, value: value)
            }
            return keepsID && member.name.hasSameBytes(as: Self.idName) ? member : nil
        }
        return isEmpty && !isNamed ? nil : .object(granted)
    }

    private func pruned(_ elements: [JSONValue]) -> JSONValue? {
        let ids = elements.compactMap(Self.id)
        let isKeyed = ids.count == elements.count
        let granted = elements.enumerated().compactMap { index, element -> JSONValue? in
            let level = next(isKeyed ? ids[index] : String(index))
            if level.isWhole { return element }
            guard isKeyed, let members = element.members, !level.nodes.isEmpty else { return level.prune(element) }
            return level.pruned(members, keepsID: true)
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
