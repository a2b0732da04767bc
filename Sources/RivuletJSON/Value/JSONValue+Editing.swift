// This file edits JSON values by JSON Pointers.

import RivuletBase

extension JSONValue {
    /// Returns the value that a JSON Pointer leads to; nil if there is none.
    ///
    /// - Throws: ``JSONError`` of kind `malformed` if the text is no JSON Pointer (RFC 6901).
    public func value(at path: String) throws(JSONError) -> JSONValue? {
        self[try JSONPointer(parsing: path)]
    }

    /// Sets the value at a JSON Pointer, and creates objects that are missing on the path.
    ///
    /// An existing value at the path is replaced. If an error is thrown, nothing has changed.
    /// - Throws: ``JSONError`` of kind `malformed` if the text is no JSON Pointer. Kind `mismatch` if the path leads
    ///   through something that is neither an object nor an array with such an index.
    public mutating func set(_ path: String, to value: JSONValue) throws(JSONError) {
        let pointer = try JSONPointer(parsing: path)
        guard let edited = setting(pointer.tokens[...], to: value) else {
            throw JSONError(
                kind: .mismatch,
                pointer: path,
                detail: "the path leads through a value that is no object, and no array with such an index"
            )
        }
        self = edited
    }

    /// Removes the value at a JSON Pointer; does nothing if there is none.
    ///
    /// - Parameters:
    ///   - path: The JSON Pointer.
    ///   - required: True if a migration step fails when no stored session has the path; without effect outside of a
    ///     step.
    /// - Returns: The removed value; nil if there was none.
    /// - Throws: ``JSONError`` of kind `malformed` if the text is no JSON Pointer, `mismatch` for the whole value.
    @discardableResult
    public mutating func remove(_ path: String, required: Bool = true) throws(JSONError) -> JSONValue? {
        let removed = try take(path)
        record(path, isFound: removed != nil, required)
        return removed
    }

    /// Moves the value at a JSON Pointer to another path; does nothing if there is no value.
    ///
    /// An existing value at the target is replaced.
    /// - Parameters:
    ///   - path: The JSON Pointer of the value to move.
    ///   - target: The JSON Pointer of its new path.
    ///   - required: True if a migration step fails when no stored session has the path; without effect outside of a
    ///     step.
    /// - Throws: The errors of ``set(_:to:)`` and ``remove(_:required:)``.
    public mutating func move(_ path: String, to target: String, required: Bool = true) throws(JSONError) {
        var edited = self
        let moved = try edited.take(path)
        record(path, isFound: moved != nil, required)
        guard let moved else { return }
        try edited.set(target, to: moved)
        self = edited
    }

    /// Changes the value at a JSON Pointer; does nothing if there is none.
    ///
    /// - Parameters:
    ///   - path: The JSON Pointer.
    ///   - required: True if a migration step fails when no stored session has the path; without effect outside of a
    ///     step.
    ///   - body: Changes the value. Pointers of edits in the closure begin at this value.
    /// - Throws: ``JSONError`` of kind `malformed` if the text is no JSON Pointer, or the error of the closure. If an
    ///   error is thrown, nothing has changed.
    public mutating func update(
        _ path: String,
        required: Bool = true,
        _ body: (inout JSONValue) throws -> Void
    ) throws {
        let old = try value(at: path)
        record(path, isFound: old != nil, required)
        guard var value = old else { return }
        try Self.noting(within: path) { try body(&value) }
        try set(path, to: value)
    }

    /// Changes every element of the array, or every value of the object, at a JSON Pointer, in order.
    ///
    /// Does nothing if there is neither an array nor an object.
    /// - Parameters:
    ///   - path: The JSON Pointer of the array or the object.
    ///   - required: True if a migration step fails when no stored session has an array, an object or null at the path;
    ///     without effect outside of a step.
    ///   - body: Changes an element or a value. Pointers of edits in the closure begin at that element or value.
    /// - Throws: ``JSONError`` of kind `malformed` if the text is no JSON Pointer, or the error of the closure. If an
    ///   error is thrown, nothing has changed.
    public mutating func updateEach(
        _ path: String,
        required: Bool = true,
        _ body: (inout JSONValue) throws -> Void
    ) throws {
        let old = try value(at: path)
        switch old {
        case .array(var elements):
            record(path, isFound: true, required)
            try Self.noting(within: path + "/*") {
                for index in elements.indices { try body(&elements[index]) }
            }
            try set(path, to: .array(elements))
        case .object(let members):
            record(path, isFound: true, required)
            let edited = try Self.noting(within: path + "/*") {
                try members.map { member in
                    var value = member.value
                    try body(&value)
                    return Member(name: member.name, value: value)
                }
            }
            try set(path, to: .object(edited))
        default: record(path, isFound: old == .null, required)
        }
    }

    /// Records in the running migration step, if there is one, whether a path was found.
    private func record(_ path: String, isFound: Bool, _ isRequired: Bool) {
        EditRecorder.current?.record(path, isFound: isFound, isRequired: isRequired)
    }

    private static func noting<Value>(within path: String, _ body: () throws -> Value) rethrows -> Value {
        guard let notebook = EditRecorder.current else { return try body() }
        return try notebook.within(path, body)
    }

    private mutating func take(_ path: String) throws(JSONError) -> JSONValue? {
        let pointer = try JSONPointer(parsing: path)
        guard !pointer.tokens.isEmpty else {
            throw JSONError(kind: .mismatch, detail: "the whole value cannot be removed; set it to another value")
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
            let old = members.first { $0.name.hasSameBytes(as: token) }?.value ?? .object([])
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

    /// Returns this value without the value at the path, which must exist.
    private func removing(_ path: ArraySlice<String>) -> JSONValue {
        guard let token = path.first else { return self }
        let rest = path.dropFirst()
        switch self {
        case .object(let members):
            guard !rest.isEmpty else { return .object(members.filter { !$0.name.hasSameBytes(as: token) }) }
            return .object(
                members.map { member in
                    guard member.name.hasSameBytes(as: token) else { return member }
                    return Member(name: token, value: member.value.removing(rest))
                }
            )
        case .array(var elements):
            guard let index = JSONPointer.index(token), elements.indices.contains(index) else { return self }
            if rest.isEmpty { elements.remove(at: index) } else { elements[index] = elements[index].removing(rest) }
            return .array(elements)
        case .null, .bool, .number, .string: return self
        }
    }
}

extension [JSONValue.Member] {
    /// Returns the members with this value under the key, at its old position or at the end.
    package func setting(_ name: String, to value: JSONValue) -> [JSONValue.Member] {
        var members = self
        let member = JSONValue.Member(name: name, value: value)
        if let position = firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
            members[position] = member
        } else {
            members.append(member)
        }
        return members
    }
}
