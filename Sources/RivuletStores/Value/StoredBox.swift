package import RivuletJSON

/// The document `{"value": …}`.
///
/// A box, because not every value is a JSON text of its own in all formats. Source: <Tests/Rows/Systems.md#e-19>.
package enum StoredBox {
    private static let member = "value"

    /// The document of a value, which is there again after a restart.
    ///
    /// - Throws: ``StoreError/unrepresentable(key:)`` when JSON cannot carry the value; `key` is only for its words.
    ///   ``StoreError/unreadable(type:place:)`` when the value cannot be read from its document.
    static func document<Value: Codable>(of value: Value, key: String) throws(StoreError) -> [UInt8] {
        var writer = JSONWriter(includesTransient: false)
        writer.beginObject()
        writer.key(member)
        ItemDocument.write(value, into: &writer)
        writer.endObject()
        guard !writer.hasUnrepresentableNumber else { throw .unrepresentable(key: key) }
        do throws(JSONError) {
            _ = try Self.value(Value.self, of: writer.bytes)
        } catch {
            // The error itself may repeat a part of a secret.
            throw .unreadable(type: "\(Value.self)", place: ItemDocument.unreadablePlace(of: Value.self) ?? "")
        }
        return writer.bytes
    }

    /// The value of a document.
    ///
    /// - Throws: what is wrong with it.
    package static func value<Value: Decodable>(_ type: Value.Type, of document: [UInt8]) throws(JSONError) -> Value {
        var reader = JSONReader(document)
        let start = reader
        var found: Value?
        try reader.object { (name, reader) throws(JSONError) in
            guard name == member else { return try reader.unknownKey(name) }
            found = try ItemDocument.read(type, from: &reader)
        }
        try reader.finish()
        guard let found else { throw start.error(.missing, "a stored value is an object with the key \"\(member)\"") }
        return found
    }
}
