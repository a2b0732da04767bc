// This file finds the position of an error's path in the text.

import RivuletBase

extension JSONReader {
    /// Returns a reader at the value that a path below the next value leads to; nil if there is no such value.
    func location(at path: [any CodingKey]) -> JSONReader? {
        var reader = self
        do throws(JSONError) { return try reader.find(path[...]) } catch { return nil }
    }

    /// Returns a reader at the value that a pointer below the next value leads to; nil if there is no such value.
    package func location(at pointer: JSONPointer) -> JSONReader? {
        location(at: pointer.tokens.map(Token.init))
    }

    /// Returns a reader at the value that the path leads to, and skips the whole next value.
    ///
    /// The text is read only once, at any depth of the path.
    private mutating func find(_ path: ArraySlice<any CodingKey>) throws(JSONError) -> JSONReader? {
        guard let key = path.first else {
            let location = self
            try skip()
            return location
        }
        let rest = path.dropFirst()
        var location: JSONReader?
        switch try peek() {
        case .object:
            try object(keepsSpellings: true) { (name, reader) throws(JSONError) in
                if name.hasSameBytes(as: key.stringValue) { location = try reader.find(rest) }
            }
        case .array:
            try array { (index, reader) throws(JSONError) in
                if index == key.intValue { location = try reader.find(rest) }
            }
        case .null, .bool, .number, .string: try skip()
        }
        return location
    }

    /// A token of a pointer: a key of an object, or an index of an array.
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
    /// Creates the pointer of a decoder's coding path.
    init(codingPath: [any CodingKey]) {
        // The token is the key's string, except for elements: Foundation names their keys "Index" and a number.
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
    /// - Throws: The error of the decoder, or ``JSONError`` if the value does not fit this type. The error's pointer
    ///   starts at the decoder's root. Its offset is an offset in the text of this value alone.
    package init(jsonFrom decoder: any Decoder) throws {
        let bytes = try JSONValue(from: decoder).jsonBytes()
        var reader = JSONReader(bytes, pointer: JSONPointer(codingPath: decoder.codingPath).description)
        try self.init(json: &reader)
    }
}
