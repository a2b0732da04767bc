// Owns the simplest way to apply changes as a client does: elements of arrays are found by their `id`.

package import RivuletJSON
package import RivuletObservation

extension JSONValue {
    /// Returns this value after a change, or nil if the change does not fit it.
    package func applying(_ change: StateChange, _ value: [UInt8]?) throws -> JSONValue? {
        let path = try JSONPointer(parsing: change.path).tokens[...]
        return edited(path, change.operation, change.index, try value.map { try JSONValue(parsing: $0) })
    }

    /// Returns this value after a change whose path begins at this value, or nil if the change does not fit.
    package func applying(_ change: StateChange, at path: ArraySlice<String>) throws -> JSONValue? {
        edited(path, change.operation, change.index, try change.value.map { try JSONValue(parsing: $0) })
    }

    /// The text of the value at a path, in which elements are named by their ids.
    package func bytes(at path: ArraySlice<String>) -> [UInt8]? {
        keyed(path)?.jsonBytes()
    }

    private func keyed(_ path: ArraySlice<String>) -> JSONValue? {
        guard let token = path.first else { return self }
        switch self {
        case .object(let members): return members.first { $0.name == token }?.value.keyed(path.dropFirst())
        case .array(let elements): return elements.first { $0.hasID(token) }?.keyed(path.dropFirst())
        default: return nil
        }
    }

    private func hasID(_ token: String) -> Bool {
        guard case .object(let members) = self, let id = members.first(where: { $0.name == "id" })?.value else {
            return false
        }
        if case .string(let text) = id { return text.utf8.elementsEqual(token.utf8) }
        return id.jsonBytes() == [UInt8](token.utf8)
    }

    private func edited(
        _ path: ArraySlice<String>,
        _ operation: StateChange.Operation,
        _ index: Int?,
        _ value: JSONValue?
    ) -> JSONValue? {
        guard let token = path.first else { return operation == .replace ? value : nil }
        let rest = path.dropFirst()
        switch self {
        case .object(var members):
            guard let place = members.firstIndex(where: { $0.name == token }),
                let member = members[place].value.edited(rest, operation, index, value)
            else { return nil }
            members[place] = Member(name: token, value: member)
            return .object(members)
        case .array(let elements):
            guard !rest.isEmpty || operation == .replace else {
                return reordered(elements, token, operation, index, value)
            }
            guard let place = elements.firstIndex(where: { $0.hasID(token) }),
                let element = elements[place].edited(rest, operation, index, value)
            else { return nil }
            var elements = elements
            elements[place] = element
            return .array(elements)
        default: return nil
        }
    }

    private func reordered(
        _ elements: [JSONValue],
        _ token: String,
        _ operation: StateChange.Operation,
        _ index: Int?,
        _ value: JSONValue?
    ) -> JSONValue? {
        var elements = elements
        let place = elements.firstIndex { $0.hasID(token) }
        if operation == .add {
            guard place == nil, let value, let index, (0...elements.count).contains(index), value.hasID(token) else {
                return nil
            }
            elements.insert(value, at: index)
            return .array(elements)
        }
        guard let place else { return nil }
        let element = elements.remove(at: place)
        guard operation == .move else { return .array(elements) }
        guard let index, (0...elements.count).contains(index) else { return nil }
        elements.insert(element, at: index)
        return .array(elements)
    }
}
