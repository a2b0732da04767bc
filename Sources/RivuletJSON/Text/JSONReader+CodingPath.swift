// This file owns the way from the path of a fault to its place in the text.

extension JSONReader {
    /// A reader that is about to read the value at a path below the next value; nil when there is no such value.
    func place(at path: [any CodingKey]) -> JSONReader? {
        var reader = self
        do throws(JSONError) { return try reader.find(path[...]) } catch { return nil }
    }

    /// As `place(at:)`, with a pointer below the next value.
    package func place(at pointer: JSONPointer) -> JSONReader? {
        place(at: pointer.tokens.map(Token.init))
    }

    /// Finds the place and goes past the next value, so that the text is read once however deep the place is.
    private mutating func find(_ path: ArraySlice<any CodingKey>) throws(JSONError) -> JSONReader? {
        guard let key = path.first else {
            let place = self
            try skip()
            return place
        }
        let rest = path.dropFirst()
        var place: JSONReader?
        switch try peek() {
        case .object:
            try object { (name, reader) throws(JSONError) in
                if name == key.stringValue { place = try reader.find(rest) }
            }
        case .array:
            try array { (index, reader) throws(JSONError) in
                if index == key.intValue { place = try reader.find(rest) }
            }
        case .null, .bool, .number, .string: try skip()
        }
        return place
    }

    /// A token of a pointer: a key of an object or an index of an array, whichever is there.
    private struct Token: CodingKey {
        let stringValue: String
        var intValue: Int? { JSONPointer.index(stringValue) }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init(intValue: Int) {
            stringValue = "\(intValue)"
        }
    }
}

extension JSONPointer {
    /// The place that a decoder names by a coding path.
    init(codingPath: [any CodingKey]) {
        // The name of a key that has a number too is its string; the keys of elements are called so by Foundation.
        self.init(
            tokens: codingPath.map { key in
                key.intValue.flatMap { key.stringValue == "Index \($0)" ? String($0) : nil } ?? key.stringValue
            }
        )
    }
}

extension JSONCodable {
    /// Reads the JSON form from a decoder of any format.
    ///
    /// - Throws: what the decoder throws, or ``JSONError`` when the value does not fit this type. Its pointer leads from the
    ///   decoder's root to the fault, its offset counts in a text of the value alone.
    package init(jsonFrom decoder: any Decoder) throws {
        let bytes = try JSONValue(from: decoder).jsonBytes()
        var reader = JSONReader(bytes, pointer: JSONPointer(codingPath: decoder.codingPath).description)
        try self.init(json: &reader)
    }
}
