/// A JSON text with the ids of the elements of its keyed collections.
package struct KeyedJSON: Sendable {
    package let bytes: [UInt8]
    /// The ids of the elements of keyed collections, by the offset of the collection in the text.
    private let ids: [Int: [String]]

    /// Takes the text and the records of a writer.
    package init(_ writer: JSONWriter) {
        bytes = writer.bytes
        ids = writer.keyedRecords?.ids ?? [:]
    }

    /// Returns the locations that a pattern matches, as tokens below this value, in the order of the text.
    ///
    /// A token `*` matches any one token. Returns nil if there are more than `locationsMax` locations, if their tokens
    /// take more than `bytesMax`, or if the text is nested too deep.
    package func locations(matching pattern: ArraySlice<String>, locationsMax: Int, bytesMax: Int) -> [[String]]? {
        var walk = Walk(ids: ids, locationsMax: locationsMax, bytesMax: bytesMax)
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            try walk.go(pattern, &reader)
            return walk.locations
        } catch {
            return nil
        }
    }

    /// Writes the value at a path below this value.
    ///
    /// Returns false and writes nothing if there is no such value.
    package func write(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        var walk = Walk(ids: ids, locationsMax: 1, bytesMax: .max)
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
        part.record(Dictionary(uniqueKeysWithValues: inside.map { ($0.key - range.lowerBound, $0.value) }), at: 0)
        writer.raw(part)
        return true
    }
}

/// The search for the locations that a pattern matches.
private struct Walk {
    let ids: [Int: [String]]
    let locationsMax: Int
    let bytesMax: Int
    /// True if `*` is a token like any other.
    var isLiteral = false
    var locations: [[String]] = []
    /// The range of the last location's text.
    var found: Range<Int>?
    private var path: [String] = []
    private var bytes = 0

    init(ids: [Int: [String]], locationsMax: Int, bytesMax: Int) {
        self.ids = ids
        self.locationsMax = locationsMax
        self.bytesMax = bytesMax
    }

    mutating func go(_ pattern: ArraySlice<String>, _ reader: inout JSONReader) throws(JSONError) {
        guard let token = pattern.first else { return try take(&reader) }
        let rest = pattern.dropFirst()
        switch try reader.peek() {
        case .object:
            try reader.object(keepsSpellings: true) { key, reader throws(JSONError) in
                try step(key, token, rest, &reader)
            }
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
        guard locations.count < locationsMax, bytes <= bytesMax else {
            throw JSONError(kind: .outOfRange, detail: "there are too many locations")
        }
        locations.append(path)
    }
}
