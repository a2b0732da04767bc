import RivuletEngine
package import RivuletJSON
package import RivuletObservation

/// A document with values that are read as JSON by their key paths.
package struct ReadableDocument {
    /// Writes the value at a key path; returns false, with nothing written, if there is none.
    private let write: (_ path: JSONPointer, _ writer: inout JSONWriter) -> Bool
    private let source: Source

    /// The source of the document's schema, which is made only when a value is pruned.
    private enum Source {
        case state(any ObservableState.Type)
        case view(any ViewInstance)
        case unknown
    }

    /// Makes a document without a schema from a function that writes its values.
    package init(_ write: @escaping (_ path: JSONPointer, _ writer: inout JSONWriter) -> Bool) {
        (self.write, source) = (write, .unknown)
    }

    /// The document without any value.
    static var nothing: ReadableDocument { ReadableDocument { _, _ in false } }

    /// Makes a document of a state.
    package init<State: ObservableState>(_ state: State) {
        write = { state.encodeJSON(at: $0.tokens[...], into: &$1) }
        source = .state(State.self)
    }

    /// Makes a document of a view; each read gets the view's values at that time.
    init(_ view: some ViewInstance) {
        write = { view.encodeJSON(at: $0.tokens[...], into: &$1) }
        source = .view(view)
    }

    /// The shape of the document; any value for a document without a schema.
    var schema: JSONSchema {
        switch source {
        case .state(let type): type.jsonSchema
        case .view(let view): view.schema
        case .unknown: .any
        }
    }

    /// Returns the value at a key path as JSON bytes; nil if there is none.
    package func json(_ path: JSONPointer) -> [UInt8]? {
        var writer = JSONWriter()
        return write(path, &writer) ? writer.bytes : nil
    }

    /// Returns the key paths that a pattern leads to, in the document's order.
    ///
    /// A token `*` of the pattern stands for any one token, except in the first `literal` tokens. The result is nil if
    /// there are more paths than a stream may list one by one.
    func locations(of pattern: [String], literal: Int = 0) -> [JSONPointer]? {
        let outer = Array(pattern.prefix(PathSet.outerCount(of: pattern, literal: literal)))
        var writer = JSONWriter(notingKeyed: false)
        guard write(JSONPointer(tokens: outer), &writer) else { return [] }
        let found = KeyedJSON(writer).locations(
            matching: pattern[outer.count...],
            locationsMax: PathSet.wildcardLocationsMax,
            bytesMax: PathSet.wildcardPathBytesMax
        )
        return found.map { $0.map { JSONPointer(tokens: outer + $0) } }
    }

    /// Returns the ids of the keyed collection at a key path, in their order; nil if there is no such collection.
    func ids(at path: JSONPointer) -> [String]? {
        var writer = JSONWriter(notingKeyed: true)
        return write(path, &writer) ? writer.keyedRecords?.ids[0] : nil
    }

    /// Returns the positions of the elements that a key path names by id.
    ///
    /// In the result, each key is the index of an id among the path's tokens, and its value is the element's position
    /// in the collection. The result is nil if the path has no value.
    func positions(along path: JSONPointer) -> [Int: Int]? {
        var writer = JSONWriter(notingKeyed: true)
        guard write(path, &writer) else { return nil }
        let steps = writer.keyedRecords?.steps ?? []
        return Dictionary(steps.map { (path.tokens.count - $0.remaining, $0.position) }) { _, last in last }
    }
}
