import RivuletBase
import RivuletJSON

/// A JSON value whose parts have the tokens of their key paths: names, ids of keyed elements, or indexes.
struct AddressedValue {
    /// A part with a name or an id.
    typealias Member = (token: ByteText, value: AddressedValue)

    /// The parts of a value.
    enum Parts {
        /// A value without parts.
        case none
        /// The elements of an array, by their index.
        case elements([AddressedValue])
        /// The elements of a `Keyed`, by their id.
        case keyed([Member])
        /// The members of an object, by their name.
        case members([Member])
    }

    /// The JSON text; equal values have equal texts.
    let text: ArraySlice<UInt8>
    let parts: Parts

    /// Reads the JSON of a value.
    ///
    /// - Throws: an error if the value is nested too deep, or writes invalid JSON.
    init(_ value: some JSONCodable) throws(JSONError) {
        var writer = JSONWriter(notingKeyed: false)
        value.encodeJSON(into: &writer)
        var reader = JSONReader(writer.bytes)
        try self.init(&reader, writer)
    }

    private init(_ reader: inout JSONReader, _ source: JSONWriter) throws(JSONError) {
        let start = reader.offset
        switch try reader.peek() {
        case .object:
            var members: [Member] = []
            try reader.object(keepsSpellings: true) { name, reader throws(JSONError) in
                members.append((ByteText(name), try AddressedValue(&reader, source)))
            }
            parts = .members(members)
        case .array:
            var elements: [AddressedValue] = []
            try reader.array { _, reader throws(JSONError) in
                elements.append(try AddressedValue(&reader, source))
            }
            let ids = source.keyedRecords?.ids[start]
            parts = ids.map { .keyed(Array(zip($0.map(ByteText.init), elements))) } ?? .elements(elements)
        case .null, .bool, .number, .string:
            try reader.skip()
            parts = .none
        }
        text = source.bytes[start..<reader.offset]
    }
}
