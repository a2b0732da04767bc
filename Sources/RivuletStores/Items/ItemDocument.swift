package import RivuletJSON

/// Writes and reads items: JSONCodable types by that protocol, other types by Codable.
package enum ItemDocument {
    /// Writes an item without its transient fields.
    ///
    /// - Throws: ``StoreError/unrepresentable(key:)``; `key` is only in the error's text.
    static func encode<Item: Encodable>(_ item: Item, key: String) throws(StoreError) -> [UInt8] {
        var writer = JSONWriter(includesTransient: false)
        write(item, into: &writer)
        guard !writer.hasUnrepresentableNumber else { throw .unrepresentable(key: key) }
        return writer.bytes
    }

    /// Returns the JSON of an item as it is stored and served, without transient fields.
    package static func json(of item: some Encodable) -> [UInt8] {
        var writer = JSONWriter(includesTransient: false)
        write(item, into: &writer)
        return writer.bytes
    }

    /// Returns a canonical text, with unordered content in a fixed order.
    ///
    /// Equal items have equal texts in every process. Returns nil if the item has no unordered content; its plain JSON
    /// is then the canonical text.
    static func canonicalText(of item: some Encodable) -> [UInt8]? {
        var writer = JSONWriter(includesTransient: false)
        writer.isCanonical = true
        write(item, into: &writer)
        return writer.hasOtherText ? writer.bytes : nil
    }

    /// Returns the shape of a type's JSON, as far as the type describes it.
    package static func schema(of type: Any.Type) -> JSONSchema {
        (type as? any JSONCodable.Type)?.jsonSchema ?? CodableJSON.jsonSchema(of: type)
    }

    /// Reads an item.
    ///
    /// - Throws: The error of the text, with its position.
    static func decode<Item: Decodable>(_ type: Item.Type, from document: [UInt8]) throws(JSONError) -> Item {
        var reader = JSONReader(document)
        let item = try read(type, from: &reader)
        try reader.finish()
        return item
    }

    /// Reads an item that a client has sent.
    ///
    /// - Throws: The error of the text, with its position.
    package static func decode<Item: Decodable>(_ type: Item.Type, sent body: [UInt8]) throws(JSONError) -> Item {
        do throws(JSONError) {
            var reader = JSONReader(body)
            // A JSON key that items do not have is a mistake of the client. Without this option the key is ignored.
            reader.unknownKeys = .reject
            reader.includesTransient = false
            let item = try read(type, from: &reader)
            try reader.finish()
            return item
        } catch {
            throw JSONReader.mostSevereError(of: body, after: error)
        }
    }

    /// Reads items.
    ///
    /// An item that cannot be read does not affect the others.
    package static func decode<Item: Decodable>(
        _ type: Item.Type,
        from documents: [[UInt8]]
    ) -> [Result<Item, JSONError>] {
        if !(type is any JSONCodable.Type), let items = CodableJSON.decode(type, fromEach: documents) {
            return items.map { .success($0) }
        }
        return documents.map { document in Result { () throws(JSONError) in try decode(type, from: document) } }
    }

    /// Returns the path of a field that is not stored but required to read a value of the type; nil if there is none.
    ///
    /// Stored values of a type with such a field cannot be read. For a type that is only Codable the result is always
    /// nil.
    static func unreadablePath(of type: Any.Type) -> String? {
        (type as? any JSONCodable.Type)?.jsonSchema.unreadablePath
    }

    /// Writes a value of any type.
    package static func write(_ value: some Encodable, into writer: inout JSONWriter) {
        if let value = value as? any JSONCodable {
            value.encodeJSON(into: &writer)
        } else {
            CodableJSON.encode(value, into: &writer)
        }
    }

    /// Reads a value of any type.
    package static func read<Item: Decodable>(
        _ type: Item.Type,
        from reader: inout JSONReader
    ) throws(JSONError) -> Item {
        if let type = type as? any JSONCodable.Type, let item = try type.init(json: &reader) as? Item { return item }
        return try CodableJSON.decode(type, from: &reader)
    }
}
