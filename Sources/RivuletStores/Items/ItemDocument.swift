package import RivuletJSON

/// Writes and reads items: types that are JSONCodable through theirs, any other type through its Codable.
package enum ItemDocument {
    /// Writes an item; what is transient is not kept.
    ///
    /// - Throws: ``StoreError/unrepresentable(key:)``; `key` is only for its words.
    static func encode<Item: Encodable>(_ item: Item, key: String) throws(StoreError) -> [UInt8] {
        var writer = JSONWriter(includesTransient: false)
        write(item, into: &writer)
        guard !writer.hasUnrepresentableNumber else { throw .unrepresentable(key: key) }
        return writer.bytes
    }

    /// The JSON of an item as it is kept and served; what is transient is in neither.
    package static func json(of item: some Encodable) -> [UInt8] {
        var writer = JSONWriter(includesTransient: false)
        write(item, into: &writer)
        return writer.bytes
    }

    /// A text that equal items have in every process; nil: their JSON is one.
    static func canonicalText(of item: some Encodable) -> [UInt8]? {
        var writer = JSONWriter(includesTransient: false)
        writer.isCanonical = true
        write(item, into: &writer)
        return writer.hasOtherText ? writer.bytes : nil
    }

    /// The shape of a type's JSON, as far as the type tells it.
    package static func schema(of type: Any.Type) -> JSONSchema {
        (type as? any JSONCodable.Type)?.jsonSchema ?? CodableJSON.jsonSchema(of: type)
    }

    /// Reads an item.
    ///
    /// - Throws: what is wrong with the text, and where.
    static func decode<Item: Decodable>(_ type: Item.Type, from document: [UInt8]) throws(JSONError) -> Item {
        var reader = JSONReader(document)
        let item = try read(type, from: &reader)
        try reader.finish()
        return item
    }

    /// Reads what a client has sent.
    ///
    /// - Throws: what is wrong with the text, and where.
    package static func decode<Item: Decodable>(_ type: Item.Type, sent body: [UInt8]) throws(JSONError) -> Item {
        do throws(JSONError) {
            var reader = JSONReader(body)
            // A key that no item has is a slip of the sender's, which would go unnoticed otherwise.
            reader.unknownKeys = .reject
            reader.includesTransient = false
            let item = try read(type, from: &reader)
            try reader.finish()
            return item
        } catch {
            throw JSONReader.gravestFault(of: body, after: error)
        }
    }

    /// Reads items; one that cannot be read hides no other.
    package static func decode<Item: Decodable>(
        _ type: Item.Type,
        from documents: [[UInt8]]
    ) -> [Result<Item, JSONError>] {
        if !(type is any JSONCodable.Type), let items = CodableJSON.decode(type, fromEach: documents) {
            return items.map { .success($0) }
        }
        return documents.map { document in Result { () throws(JSONError) in try decode(type, from: document) } }
    }

    /// What of a type is not stored and must be there to be read, so that nothing of that type comes back; nil: nothing is.
    ///
    /// A type that is only Codable does not tell.
    static func unreadablePlace(of type: Any.Type) -> String? {
        (type as? any JSONCodable.Type)?.jsonSchema.unreadablePlace
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
