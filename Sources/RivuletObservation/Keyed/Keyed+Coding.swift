public import RivuletJSON

extension Keyed: JSONCodable {
    /// Writes an array of the elements in their order.
    public func encodeJSON(into writer: inout JSONWriter) {
        let isDeep = writer.recordKeyed { map(\.id.keyPathToken) }
        writer.beginArray()
        if isDeep {
            for element in self {
                if !element.id.isAddressable { writer.hasUnaddressableID = true }
                element.encodeJSON(into: &writer)
            }
        }
        writer.endArray()
    }

    /// Reads an array; its elements must have different ids.
    public init(json reader: inout JSONReader) throws(JSONError) {
        var list = KeyedList<Element>()
        try reader.array { (_, reader) throws(JSONError) in
            let offset = reader.offset
            let element = try Element(json: &reader)
            guard list.keys.firstIndex(of: KeyedKey(element.id)) == nil else {
                let detail = "an earlier element has the same id \"\(element.id.keyPathToken)\""
                throw JSONError(kind: .mismatch, offset: offset, pointer: reader.pointer, detail: detail)
            }
            // An id with a NUL is refused, except in a stored document: its reader also ignores unknown keys.
            guard element.id.isAddressable || reader.unknownKeys == .ignore else {
                let detail = "an element's id cannot have a NUL, which no URL can carry"
                throw JSONError(kind: .mismatch, offset: offset, pointer: reader.pointer, detail: detail)
            }
            list.append(KeyedSlot(element, stamp: KeyedStamp.next()), id: element.id)
        }
        self.init(list)
    }

    /// An array of elements that are addressed by their ids.
    public static var jsonSchema: JSONSchema {
        .keyed(Element.jsonSchema) { token in Element.ID.from(exactKeyPathToken: token) != nil }
    }

    /// Writes the value at a path that begins with an element's id.
    public func encodeJSON(at path: ArraySlice<String>, into writer: inout JSONWriter) -> Bool {
        guard let token = path.first else {
            encodeJSON(into: &writer)
            return true
        }
        guard let position = position(token: token) else { return false }
        writer.recordElement(at: position, remaining: path.count)
        return self[id: element(at: position).id]?.encodeJSON(at: path.dropFirst(), into: &writer) ?? false
    }

    /// Returns the position of the element with an id of exactly this spelling.
    func position(token: String) -> Int? {
        guard
            let id = Element.ID.from(keyPathToken: token), let position = position(of: id),
            element(at: position).id.keyPathToken.utf8.elementsEqual(token.utf8)
        else { return nil }
        return position
    }
}

extension Keyed: Encodable where Element: Encodable {
    /// Writes an array of the elements in their order.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}

extension Keyed: Decodable where Element: Decodable {
    /// Reads an array; its elements must have different ids.
    ///
    /// - Throws: what the decoder throws, or `dataCorrupted` at an element with the id of an earlier element.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        self.init()
        while !container.isAtEnd {
            let index = container.currentIndex
            guard append(try container.decode(Element.self)).inserted else {
                let description = "element \(index) has the id of an earlier element"
                let path = container.codingPath + [ElementKey(index)]
                throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: description))
            }
        }
    }
}

/// An index in the path of an error.
private struct ElementKey: CodingKey {
    let index: Int
    var stringValue: String { "Index \(index)" }
    var intValue: Int? { index }

    init(_ index: Int) {
        self.index = index
    }

    init?(stringValue: String) { nil }

    init(intValue: Int) {
        index = intValue
    }
}
