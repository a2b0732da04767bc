// This file owns edits of JSON as a value, by JSON Pointers.

extension JSONValue {
    /// The value that a JSON Pointer leads to, nil when there is none.
    ///
    /// - Throws: ``JSONError`` of kind `malformed` when the text is no JSON Pointer (RFC 6901).
    public func value(at path: String) throws(JSONError) -> JSONValue? {
        self[try JSONPointer(parsing: path)]
    }

    /// Puts a value at a JSON Pointer, over what is there; objects that are missing on the way are made.
    ///
    /// - Throws: ``JSONError`` of kind `malformed` when the text is no JSON Pointer, `mismatch` when something on the way is no object
    ///   and no array with such an index; nothing has changed then.
    public mutating func set(_ path: String, to value: JSONValue) throws(JSONError) {
        let pointer = try JSONPointer(parsing: path)
        guard let edited = setting(pointer.tokens[...], to: value) else {
            throw JSONError(
                kind: .mismatch,
                pointer: path,
                detail: "the way there leads through a value that holds no others"
            )
        }
        self = edited
    }

    /// Takes away what is at a JSON Pointer; does nothing when there is nothing.
    ///
    /// - Parameters:
    ///   - path: The JSON Pointer.
    ///   - required: Whether a migration step fails when no stored session has the path; without effect outside of a step.
    /// - Returns: what was there; nil when there was nothing.
    /// - Throws: ``JSONError`` of kind `malformed` when the text is no JSON Pointer, `mismatch` for the whole value.
    @discardableResult
    public mutating func remove(_ path: String, required: Bool = true) throws(JSONError) -> JSONValue? {
        let removed = try take(path)
        note(path, isFound: removed != nil, required)
        return removed
    }

    /// Takes what is at a JSON Pointer to another place, over what is there; does nothing when there is nothing.
    ///
    /// - Parameters:
    ///   - path: The JSON Pointer of what moves.
    ///   - target: The JSON Pointer of its new place.
    ///   - required: Whether a migration step fails when no stored session has the path; without effect outside of a step.
    /// - Throws: as ``set(_:to:)`` and ``remove(_:required:)``.
    public mutating func move(_ path: String, to target: String, required: Bool = true) throws(JSONError) {
        var edited = self
        let moved = try edited.take(path)
        note(path, isFound: moved != nil, required)
        guard let moved else { return }
        try edited.set(target, to: moved)
        self = edited
    }

    /// Changes what is at a JSON Pointer; does nothing when there is nothing.
    ///
    /// - Parameters:
    ///   - path: The JSON Pointer.
    ///   - required: Whether a migration step fails when no stored session has the path; without effect outside of a step.
    ///   - body: Changes the value; pointers of its own edits begin at the value.
    /// - Throws: ``JSONError`` of kind `malformed` when the text is no JSON Pointer, and what the closure throws; nothing has changed then.
    public mutating func update(
        _ path: String,
        required: Bool = true,
        _ body: (inout JSONValue) throws -> Void
    ) throws {
        let old = try value(at: path)
        note(path, isFound: old != nil, required)
        guard var value = old else { return }
        try Self.noting(within: path) { try body(&value) }
        try set(path, to: value)
    }

    /// Changes every element of the array, or every value of the object, at a JSON Pointer, in order; does nothing when there is neither.
    ///
    /// - Parameters:
    ///   - path: The JSON Pointer of the array or the object.
    ///   - required: Whether a migration step fails when no stored session has an array, an object or null there; without effect outside of a
    ///     step.
    ///   - body: Changes an element or a value; pointers of its own edits begin at it.
    /// - Throws: ``JSONError`` of kind `malformed` when the text is no JSON Pointer, and what the closure throws; nothing has changed then.
    public mutating func updateEach(
        _ path: String,
        required: Bool = true,
        _ body: (inout JSONValue) throws -> Void
    ) throws {
        let old = try value(at: path)
        switch old {
        case .array(var elements):
            note(path, isFound: true, required)
            try Self.noting(within: path + "/*") {
                for index in elements.indices { try body(&elements[index]) }
            }
            try set(path, to: .array(elements))
        case .object(let members):
            note(path, isFound: true, required)
            let edited = try Self.noting(within: path + "/*") {
                try members.map { member in
                    var value = member.value
                    try body(&value)
                    return Member(name: member.name, value: value)
                }
            }
            try set(path, to: .object(edited))
        default: note(path, isFound: old == .null, required)
        }
    }

    /// Tells the migration step that runs, if one does, whether a path was found.
    private func note(_ path: String, isFound: Bool, _ isRequired: Bool) {
        EditNotebook.current?.note(path, isFound: isFound, isRequired: isRequired)
    }

    private static func noting<Value>(within path: String, _ body: () throws -> Value) rethrows -> Value {
        guard let notebook = EditNotebook.current else { return try body() }
        return try notebook.within(path, body)
    }

    private mutating func take(_ path: String) throws(JSONError) -> JSONValue? {
        let pointer = try JSONPointer(parsing: path)
        guard !pointer.tokens.isEmpty else {
            throw JSONError(kind: .mismatch, detail: "the whole value cannot be removed; set it to another")
        }
        guard let found = self[pointer] else { return nil }
        self = removing(pointer.tokens[...])
        return found
    }

    private func setting(_ path: ArraySlice<String>, to value: JSONValue) -> JSONValue? {
        guard let token = path.first else { return value }
        let rest = path.dropFirst()
        switch self {
        case .object(let members):
            let old = members.first { $0.name == token }?.value ?? .object([])
            guard let edited = old.setting(rest, to: value) else { return nil }
            return .object(members.setting(token, to: edited))
        case .array(var elements):
            guard let index = JSONPointer.index(token), elements.indices.contains(index),
                let edited = elements[index].setting(rest, to: value)
            else { return nil }
            elements[index] = edited
            return .array(elements)
        case .null, .bool, .number, .string: return nil
        }
    }

    /// Without what is at the path, which is there.
    private func removing(_ path: ArraySlice<String>) -> JSONValue {
        guard let token = path.first else { return self }
        let rest = path.dropFirst()
        switch self {
        case .object(let members):
            guard !rest.isEmpty else { return .object(members.filter { $0.name != token }) }
            return .object(members.map { $0.name == token ? Member(name: token, value: $0.value.removing(rest)) : $0 })
        case .array(var elements):
            guard let index = JSONPointer.index(token), elements.indices.contains(index) else { return self }
            if rest.isEmpty { elements.remove(at: index) } else { elements[index] = elements[index].removing(rest) }
            return .array(elements)
        case .null, .bool, .number, .string: return self
        }
    }
}

extension [JSONValue.Member] {
    /// The members with this value under the key, at its place or at the end.
    package func setting(_ name: String, to value: JSONValue) -> [JSONValue.Member] {
        var members = self
        let member = JSONValue.Member(name: name, value: value)
        if let place = firstIndex(where: { $0.name == name }) {
            members[place] = member
        } else {
            members.append(member)
        }
        return members
    }
}
