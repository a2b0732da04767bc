package import RivuletJSON

/// The document `{"value": …}`.
///
/// The value is boxed, because some formats do not accept every value as a whole JSON text.
/// Source: <Tests/Rows/Systems.md#e-19>.
package enum StoredBox {
    private static let member = "value"

    /// Returns the document of a value, and checks that the value can be read again.
    ///
    /// - Throws: ``StoreError/unrepresentable(key:)`` if JSON cannot represent the value; `key` is only in its text.
    ///   ``StoreError/unreadable(type:path:)`` if the value cannot be read from its document.
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
            // The error itself could repeat a part of a secret.
            throw .unreadable(type: "\(Value.self)", path: ItemDocument.unreadablePath(of: Value.self) ?? "")
        }
        return writer.bytes
    }

    /// Returns the value of a document.
    ///
    /// - Throws: The error of the document.
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
