import RivuletEngine
package import RivuletJSON
package import RivuletObservation

/// JSON that is read by key paths, at one moment.
package struct ReadableDocument {
    /// Writes the value at a key path; false, with nothing written, when there is none.
    private let write: (_ path: JSONPointer, _ writer: inout JSONWriter) -> Bool

    /// Reads a document in whatever way.
    package init(_ write: @escaping (_ path: JSONPointer, _ writer: inout JSONWriter) -> Bool) {
        self.write = write
    }

    /// There is nothing in it.
    static var nothing: ReadableDocument { ReadableDocument { _, _ in false } }

    /// Reads a state.
    package init(_ state: some ObservableState) {
        write = { state.encodeJSON(at: $0.tokens[...], into: &$1) }
    }

    /// Reads a view as it is when it is read.
    init(_ view: some ViewInstance) {
        write = { view.encodeJSON(at: $0.tokens[...], into: &$1) }
    }

    /// The value at a key path as JSON bytes; nil when there is none.
    package func json(_ path: JSONPointer) -> [UInt8]? {
        var writer = JSONWriter()
        return write(path, &writer) ? writer.bytes : nil
    }

    /// The key paths that a pattern leads to, in the document's order; a token `*` of it stands for any one, but for the first `literal`
    /// tokens.
    ///
    /// Nil when there are more of them than a stream is told one by one.
    func places(of pattern: [String], literal: Int = 0) -> [JSONPointer]? {
        let outer = Array(pattern.prefix(PathSet.outerCount(of: pattern, literal: literal)))
        var writer = JSONWriter(notingKeyed: false)
        guard write(JSONPointer(tokens: outer), &writer) else { return [] }
        let found = NotedJSON(writer).places(
            matching: pattern[outer.count...],
            placesMax: PathSet.wildcardPlacesMax,
            bytesMax: PathSet.wildcardPathBytesMax
        )
        return found.map { $0.map { JSONPointer(tokens: outer + $0) } }
    }

    /// The ids of the keyed collection at a key path, in their order; nil when there is none.
    func ids(at path: JSONPointer) -> [String]? {
        var writer = JSONWriter(notingKeyed: true)
        return write(path, &writer) ? writer.keyedNotes?.ids[0] : nil
    }

    /// Which tokens of a key path are ids of elements, by their index in it, and where these elements stand.
    ///
    /// Nil when there is nothing at the path.
    func positions(along path: JSONPointer) -> [Int: Int]? {
        var writer = JSONWriter(notingKeyed: true)
        guard write(path, &writer) else { return nil }
        let steps = writer.keyedNotes?.steps ?? []
        return Dictionary(steps.map { (path.tokens.count - $0.remaining, $0.position) }) { _, last in last }
    }
}
