// This file makes the errors of a reader, for itself and for the types that read from it.

extension JSONReader {
    /// Returns an error at the current position.
    public func error(_ kind: JSONError.Kind, _ detail: String) -> JSONError {
        error(kind, detail, at: position)
    }

    /// Returns the error of an unexpected value.
    ///
    /// `expected` has its article, as in "an integer".
    ///
    /// Call it before the value is read, so that the error can name the kind of the value.
    public func mismatch(_ expected: String) -> JSONError {
        do {
            return error(.mismatch, "expected \(expected), found \(try peek().article)")
        } catch {
            return error
        }
    }

    /// Returns the error of an object that lacks a key.
    public func missing(_ key: String) -> JSONError {
        error(.missing, "the key \"\(key)\" is missing")
    }

    /// Returns the type's value for a missing key.
    ///
    /// - Throws: `missing` if the type has no such value, see ``JSONCodable/jsonAbsent``.
    public func absent<Value: JSONCodable>(
        _ key: String,
        as type: Value.Type = Value.self
    ) throws(JSONError) -> Value {
        guard let value = Value.jsonAbsent else { throw missing(key) }
        return value
    }

    @usableFromInline
    func error(_ kind: JSONError.Kind, _ detail: String, at position: Int) -> JSONError {
        JSONError(kind: kind, offset: position - origin, pointer: pointer, detail: detail)
    }

    /// Returns the error of text that is not JSON.
    func unexpected(_ expected: String, at position: Int) -> JSONError {
        guard position < bytes.endIndex else {
            return error(.malformed, "expected \(expected), found the end of the text", at: position)
        }
        let byte = bytes[position]
        let isPrintable = (0x20..<0x7F).contains(byte)
        let found =
            isPrintable ? "\"\(Character(UnicodeScalar(byte)))\"" : "byte 0x\(String(byte, radix: 16, uppercase: true))"
        return error(.malformed, "expected \(expected), found \(found)", at: position)
    }
}
