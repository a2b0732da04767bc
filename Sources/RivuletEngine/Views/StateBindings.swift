package import RivuletJSON
package import RivuletObservation
import RivuletSchema

/// The bindings of an app, by their key paths.
package struct StateBindings<Event: AppEvent & EventCoding>: Sendable {
    private let list: [Bound]

    private struct Bound {
        let binding: StateBinding<Event>
        /// The tokens of the binding's path; nil if the path is not a JSON Pointer.
        let tokens: [String]?

        /// Returns the token of a path at the position of the binding's `*`.
        ///
        /// The token is "" if the binding has no `*`. The result is nil if the path does not match the binding.
        func id(in path: JSONPointer) -> String? {
            guard let tokens, tokens.count == path.tokens.count else { return nil }
            var id = ""
            let isMatch = zip(tokens, path.tokens).allSatisfy { pattern, token in
                guard binding.takesID, pattern == "*" else { return pattern == token }
                id = token
                return true
            }
            return isMatch ? id : nil
        }
    }

    package init(_ bindings: [StateBinding<Event>]) {
        list = bindings.map { binding in
            Bound(binding: binding, tokens: try? JSONPointer(parsing: binding.path).tokens)
        }
    }

    /// Returns true if a binding has the path; an id in the path need not be valid.
    package func contains(_ path: JSONPointer) -> Bool { list.contains { $0.id(in: path) != nil } }

    /// Reads a value for the path and makes its event; nil if no binding has the path, or if an id in it is invalid.
    package func event(at path: JSONPointer, from reader: inout JSONReader) throws(JSONError) -> Event? {
        // The first binding that accepts the token is used. A binding that rejects the token has read nothing.
        for bound in list {
            if let id = bound.id(in: path), let event = try bound.binding.event(id: id, from: &reader) { return event }
        }
        return nil
    }

    // MARK: - Description

    /// The key paths that can be written, as the app declared them.
    package var paths: [String] { list.map(\.binding.path) }

    /// The key paths that can be written, with the shapes of their values; a token `*` stands for an element's id.
    package var targets: [(tokens: [String], schema: JSONSchema)] {
        list.compactMap { bound in bound.tokens.map { ($0, bound.binding.valueSchema) } }
    }

    /// Returns the reason that the app cannot be hosted; nil if every binding fits the state.
    package func fault<State: JSONCodable>(in state: State) -> String? {
        var known: Set<[String]> = []
        for bound in list {
            let path = bound.binding.path
            guard let tokens = bound.tokens else { return "the binding \"\(path)\" is no JSON Pointer" }
            guard known.insert(tokens).inserted else { return "two bindings are for \"\(path)\"; remove one" }
            let wildcards = tokens.count { $0 == "*" }
            guard wildcards == (bound.binding.takesID ? 1 : 0) else {
                return
                    "the binding \"\(path)\" has \(wildcards) \"*\"; its event takes \(bound.binding.takesID ? "one id" : "no id")"
            }
            guard let schema = State.jsonSchema.schema(at: tokens[...]) else {
                return "the binding \"\(path)\" is for a key path that the state does not have"
            }
            guard !schema.kinds.isDisjoint(with: bound.binding.valueSchema.kinds) else {
                return "the binding \"\(path)\" takes values of another type than the state has there"
            }
            if let event = sampleEvent(of: bound, in: state), event.isInternal {
                return
                    "the binding \"\(path)\" makes the event \"\(event.eventName)\", which is @Internal; bind an event for clients"
            }
        }
        return nil
    }

    /// Writes `[{"path":…,"event":…,"schema":…}]`; `event` is the name of the event that a write becomes.
    package func encodeDescription(of state: some JSONCodable, into writer: inout JSONWriter) {
        writer.beginArray()
        for bound in list {
            writer.beginObject()
            writer.key("path")
            writer.string(bound.binding.path)
            if let name = sampleEvent(of: bound, in: state)?.eventName {
                writer.key("event")
                writer.string(name)
            }
            writer.key("schema")
            bound.binding.valueSchema.encodeJSON(into: &writer, direction: .read)
            writer.endObject()
        }
        writer.endArray()
    }

    /// Returns an event of a binding; nil if no value is known that the binding accepts.
    ///
    /// Only a call of the binding's closure shows the event. The call gets the state's value or, if the binding does
    /// not accept that, a sample value.
    private func sampleEvent(of bound: Bound, in state: some JSONCodable) -> Event? {
        var texts: [[UInt8]] = []
        var writer = JSONWriter()
        if let tokens = bound.tokens, state.encodeJSON(at: tokens[...], into: &writer) { texts.append(writer.bytes) }
        texts += ["\"\"", "0", "false", "null", "[]", "{}"].map { Array($0.utf8) }
        guard let id = bound.binding.sampleID else { return nil }
        for text in texts {
            var reader = JSONReader(text)
            if let event = try? bound.binding.event(id: id, from: &reader) { return event }
        }
        return nil
    }
}
