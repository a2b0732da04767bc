/// A JSON text with the ids of the elements in it.
package struct NotedJSON: Sendable {
    package let bytes: [UInt8]
    /// The ids of the elements of keyed collections, by the offset of the collection in the text.
    private let ids: [Int: [String]]

    /// Takes what a writer has written and noted.
    package init(_ writer: JSONWriter) {
        bytes = writer.bytes
        ids = writer.keyedNotes?.ids ?? [:]
    }

    /// The places that a pattern leads to, as tokens below this value, in the order of the text.
    ///
    /// A token `*` stands for any one. Nil when there are more than `placesMax`, when their tokens take more than `bytesMax`, or when the
    /// text is nested too deep to be read.
    package func places(matching pattern: ArraySlice<String>, placesMax: Int, bytesMax: Int) -> [[String]]? {
        var walk = Walk(ids: ids, placesMax: placesMax, bytesMax: bytesMax)
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            try walk.go(pattern, &reader)
            return walk.places
        } catch {
            return nil
        }
    }

    /// Writes what is at a path below this value; false, with nothing written, when there is nothing.
    package func write(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        var walk = Walk(ids: ids, placesMax: 1, bytesMax: .max)
        walk.isLiteral = true
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            try walk.go(path, &reader)
        } catch {
            return false
        }
        guard let range = walk.found else { return false }
        var part = JSONWriter(like: writer)
        part.raw(bytes[range])
        let inside = ids.filter { range.contains($0.key) }
        part.note(Dictionary(uniqueKeysWithValues: inside.map { ($0.key - range.lowerBound, $0.value) }), at: 0)
        writer.raw(part)
        return true
    }
}

/// The search for the places of a pattern.
private struct Walk {
    let ids: [Int: [String]]
    let placesMax: Int
    let bytesMax: Int
    /// Whether `*` is a token like any other.
    var isLiteral = false
    var places: [[String]] = []
    /// Where the last place's text is.
    var found: Range<Int>?
    private var path: [String] = []
    private var bytes = 0

    init(ids: [Int: [String]], placesMax: Int, bytesMax: Int) {
        self.ids = ids
        self.placesMax = placesMax
        self.bytesMax = bytesMax
    }

    mutating func go(_ pattern: ArraySlice<String>, _ reader: inout JSONReader) throws(JSONError) {
        guard let token = pattern.first else { return try take(&reader) }
        let rest = pattern.dropFirst()
        switch try reader.peek() {
        case .object:
            try reader.object { key, reader throws(JSONError) in try step(key, token, rest, &reader) }
        case .array:
            let ids = ids[reader.offset]
            try reader.array { index, reader throws(JSONError) in
                let name = ids.map { $0.indices.contains(index) ? $0[index] : "" } ?? String(index)
                try step(name, token, rest, &reader)
            }
        case .null, .bool, .number, .string: try reader.skip()
        }
    }

    private mutating func step(
        _ name: String,
        _ token: String,
        _ rest: ArraySlice<String>,
        _ reader: inout JSONReader
    ) throws(JSONError) {
        guard (!isLiteral && token == "*") || token.utf8.elementsEqual(name.utf8) else { return try reader.skip() }
        path.append(name)
        try go(rest, &reader)
        path.removeLast()
    }

    private mutating func take(_ reader: inout JSONReader) throws(JSONError) {
        let start = reader.offset
        try reader.skip()
        found = start..<reader.offset
        bytes += path.reduce(0) { $0 + $1.utf8.count + 1 }
        guard places.count < placesMax, bytes <= bytesMax else {
            throw JSONError(kind: .outOfRange, detail: "there are too many places")
        }
        places.append(path)
    }
}
