// This file owns the errors that a reader gives out, for itself and for the types that read from it.

extension JSONReader {
    /// An error at the place being read.
    public func error(_ kind: JSONError.Kind, _ detail: String) -> JSONError {
        error(kind, detail, at: position)
    }

    /// The error of a value that is not what was expected; `expected` has its article, as in "an integer".
    ///
    /// Make it before reading the value, so that it can say what is there instead.
    public func mismatch(_ expected: String) -> JSONError {
        do {
            return error(.mismatch, "expected \(expected), found \(try peek().article)")
        } catch {
            return error
        }
    }

    /// The error of an object that lacks a key.
    public func missing(_ key: String) -> JSONError {
        error(.missing, "the key \"\(key)\" is missing")
    }

    /// The value that a missing key stands for.
    ///
    /// - Throws: `missing` when the type has none, see ``JSONCodable/jsonAbsent``.
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

    /// The error of text that is not JSON.
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
