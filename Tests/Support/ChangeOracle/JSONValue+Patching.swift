// Owns a small function that applies patches. It shares no code with the server's part that makes patches.

package import RivuletJSON

/// The reason that a patch cannot be applied.
package struct PatchFailure: Error, CustomStringConvertible {
    package let description: String
}

extension JSONValue {
    /// This document after a patch.
    ///
    /// Source: RFC 6902 §4.
    package func applying(patch: JSONValue) throws -> JSONValue {
        guard let operations = patch.elements else { throw PatchFailure(description: "a patch is an array: \(patch)") }
        return try operations.reduce(self) { try $0.applying(operation: $1) }
    }

    private func applying(operation: JSONValue) throws -> JSONValue {
        guard let name = operation["op"]?.stringValue, let text = operation["path"]?.stringValue else {
            throw PatchFailure(description: "no operation: \(operation)")
        }
        let path = try JSONPointer(parsing: text).tokens[...]
        switch name {
        case "add": return try adding(try Self.value(of: operation), at: path)
        case "remove": return try taking(path).rest
        case "replace": return try replacing(path, with: try Self.value(of: operation))
        case "move":
            guard let source = operation["from"]?.stringValue else {
                throw PatchFailure(description: "no source: \(operation)")
            }
            let (value, rest) = try taking(try JSONPointer(parsing: source).tokens[...])
            return try rest.adding(value, at: path)
        default: throw PatchFailure(description: "an operation that is not expected: \(operation)")
        }
    }

    private static func value(of operation: JSONValue) throws -> JSONValue {
        guard let value = operation["value"] else { throw PatchFailure(description: "no value: \(operation)") }
        return value
    }

    private func adding(_ value: JSONValue, at path: ArraySlice<String>) throws -> JSONValue {
        guard let token = path.first else { return value }
        guard path.count == 1 else { return try changing(token) { try $0.adding(value, at: path.dropFirst()) } }
        switch self {
        case .object(let members):
            let member = Member(name: token, value: value)
            guard let place = members.firstIndex(where: { $0.name == token }) else {
                return .object(members + [member])
            }
            return .object(members[..<place] + [member] + members[(place + 1)...])
        case .array(var elements):
            guard let index = JSONPointer.index(token), index <= elements.count else { break }
            elements.insert(value, at: index)
            return .array(elements)
        default: break
        }
        throw PatchFailure(description: "nothing can be added at \(token) of \(self)")
    }

    private func replacing(_ path: ArraySlice<String>, with value: JSONValue) throws -> JSONValue {
        guard let token = path.first else { return value }
        return try changing(token) { try $0.replacing(path.dropFirst(), with: value) }
    }

    private func taking(_ path: ArraySlice<String>) throws -> (value: JSONValue, rest: JSONValue) {
        guard let token = path.first else { throw PatchFailure(description: "the whole document cannot be taken out") }
        guard path.count == 1 else {
            var taken = JSONValue.null
            let rest = try changing(token) { value in
                let (part, rest) = try value.taking(path.dropFirst())
                taken = part
                return rest
            }
            return (taken, rest)
        }
        switch self {
        case .object(let members):
            guard let member = members.first(where: { $0.name == token }) else { break }
            return (member.value, .object(members.filter { $0.name != token }))
        case .array(var elements):
            guard let index = JSONPointer.index(token), elements.indices.contains(index) else { break }
            let element = elements.remove(at: index)
            return (element, .array(elements))
        default: break
        }
        throw PatchFailure(description: "there is no \(token) in \(self)")
    }

    private func changing(_ token: String, _ change: (JSONValue) throws -> JSONValue) throws -> JSONValue {
        switch self {
        case .object(var members):
            guard let place = members.firstIndex(where: { $0.name == token }) else { break }
            members[place] = Member(name: token, value: try change(members[place].value))
            return .object(members)
        case .array(var elements):
            guard let index = JSONPointer.index(token), elements.indices.contains(index) else { break }
            elements[index] = try change(elements[index])
            return .array(elements)
        default: break
        }
        throw PatchFailure(description: "there is no \(token) in \(self)")
    }
}
