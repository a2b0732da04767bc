import RivuletJSON
import RivuletObjects
import RivuletObservation

/// A view object with the state of its fields.
final class ForwardedView<State: ObservableState, Object: ObservableObject>: ViewInstance {
    let schema: JSONSchema
    private let object: Object
    private var fields: [Field]

    /// A field, and the source of its changes.
    private struct Field {
        enum Source {
            /// A stored value.
            ///
            /// Its changes are the changes of the state at this path.
            case stored(JSONPointer)
            /// A computed value.
            case computed(any DerivedField<State, Object>)
        }

        let forwarded: ForwardedField<State, Object>
        var source: Source
        /// The JSON of the object's value; nil if the state has the same value at the stored path.
        var json: KeyedJSON?
    }

    /// Creates the view of an object that was made from the state.
    init(_ object: Object, fields: [ForwardedField<State, Object>], schema: JSONSchema, state: State) {
        (self.object, self.schema) = (object, schema)
        self.fields = fields.map { forwarded in
            let stored = forwarded.storedPath
            var field = Field(
                forwarded: forwarded,
                source: stored.map { .stored($0) } ?? .computed(forwarded.derived(from: state))
            )
            if stored == nil || !forwarded.isEqual(object, to: state) { field.json = forwarded.json(of: object) }
            return field
        }
    }

    func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        if let name = path.first {
            guard let field = fields.first(where: { $0.forwarded.name == name }) else { return false }
            return field.forwarded.encodeJSON(of: object, at: path.dropFirst(), into: &writer)
        }
        writer.beginObject()
        for field in fields {
            var value = JSONWriter(like: writer)
            guard field.forwarded.encodeJSON(of: object, at: [], into: &value) else { continue }
            writer.key(field.forwarded.name)
            writer.raw(value)
        }
        writer.endObject()
        return true
    }

    func update(from old: State, to new: State, after changes: [StateChange]) -> ViewUpdate {
        let before = fields
        var seen: [StateChange] = []
        for index in fields.indices {
            seen += update(&fields[index], from: old, to: new, after: changes)
        }
        return ViewUpdate(changes: seen) { path, writer in
            Self.write(before, at: path.tokens[...], in: old, into: &writer)
        }
    }

    /// Writes a value that the view had under the old state.
    private static func write(
        _ fields: [Field],
        at path: ArraySlice<String>,
        in state: State,
        into writer: inout JSONWriter
    ) -> Bool {
        if let name = path.first {
            guard let field = fields.first(where: { $0.forwarded.name == name }) else { return false }
            return write(field, at: path.dropFirst(), in: state, into: &writer)
        }
        writer.beginObject()
        for field in fields {
            var value = JSONWriter(like: writer)
            guard write(field, at: [], in: state, into: &value) else { continue }
            writer.key(field.forwarded.name)
            writer.raw(value)
        }
        writer.endObject()
        return true
    }

    private static func write(
        _ field: Field,
        at path: ArraySlice<String>,
        in state: State,
        into writer: inout JSONWriter
    ) -> Bool {
        if let json = field.json { return json.write(at: path, into: &writer) }
        guard case .stored(let pointer) = field.source else { return false }
        return state.encodeJSON(at: (pointer.tokens + path)[...], into: &writer)
    }

    /// Returns the JSON that a field had under the old state.
    private static func json(of field: Field, in state: State) -> [UInt8]? {
        var writer = JSONWriter()
        return write(field, at: [], in: state, into: &writer) ? writer.bytes : nil
    }

    private func update(
        _ field: inout Field,
        from old: State,
        to new: State,
        after changes: [StateChange]
    ) -> [StateChange] {
        switch field.source {
        case .stored(let path): return update(&field, storedAt: path, from: old, to: new, after: changes)
        case .computed(var value):
            let isAssigned = value.update(object, to: new, after: changes)
            field.source = .computed(value)
            return isAssigned ? replacement(of: &field, from: field.json?.bytes) : []
        }
    }

    private func update(
        _ field: inout Field,
        storedAt path: JSONPointer,
        from old: State,
        to new: State,
        after changes: [StateChange]
    ) -> [StateChange] {
        let name = JSONPointer(tokens: [field.forwarded.name]).description
        let pointer = path.description
        var below: [StateChange] = []
        var isReplaced = false
        for var change in changes {
            if let rest = change.path.below(pointer) {
                change.path = name + rest
                below.append(change)
            } else if pointer.below(change.path) != nil, change.operation != .move {
                isReplaced = true
            }
        }
        guard isReplaced || !below.isEmpty else { return [] }
        let wasOwn = field.json != nil
        let before = field.json?.bytes ?? (isReplaced ? Self.json(of: field, in: old) : nil)
        field.forwarded.assign(new, to: object)
        let isOwn = !field.forwarded.isEqual(object, to: new)
        if !isReplaced, !wasOwn, !isOwn { return below }
        // The object has changed the value, or a node above it was replaced in the state.
        let changes = replacement(of: &field, from: before ?? Self.json(of: field, in: old))
        if !isOwn { field.json = nil }
        return changes
    }

    /// Takes the object's JSON for a field, and returns the field's change if the JSON differs from `before`.
    private func replacement(of field: inout Field, from before: [UInt8]?) -> [StateChange] {
        let json = field.forwarded.json(of: object)
        field.json = json
        guard json?.bytes != before else { return [] }
        let name = JSONPointer(tokens: [field.forwarded.name]).description
        return [StateChange(operation: json == nil ? .remove : .replace, path: name, value: json?.bytes)]
    }
}

extension ForwardedField {
    /// Returns the object's value as JSON; nil if there is none.
    fileprivate func json(of object: Object) -> KeyedJSON? {
        var writer = JSONWriter(notingKeyed: false)
        return encodeJSON(of: object, at: [], into: &writer) ? KeyedJSON(writer) : nil
    }
}

extension String {
    /// Returns the rest of this pointer's text after `outer`; nil if this pointer neither equals `outer` nor is below
    /// it.
    fileprivate func below(_ outer: String) -> String? {
        guard utf8.starts(with: outer.utf8) else { return nil }
        let rest = utf8.dropFirst(outer.utf8.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
        return String(rest)
    }
}
