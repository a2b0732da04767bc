// This file converts the errors of Foundation's decoder, and the errors of the types that it decodes.

import FoundationEssentials

extension CodableJSON {
    /// Returns the error of a value that could not be decoded.
    ///
    /// `start` is at the beginning of that value.
    static func jsonError(of error: any Error, _ type: Any.Type, at start: JSONReader) -> JSONError {
        switch error {
        case let error as DecodingError:
            return jsonError(of: error, type, at: start)
        case let error as JSONError:
            // A state or an event within the value was read from a text of its own. The error has an offset in that
            // text, so the offset in the whole text is found by the error's pointer.
            let location = (try? JSONPointer(parsing: error.pointer)).flatMap { start.location(at: $0) }
            let pointer = start.pointer + error.pointer
            return JSONError(
                kind: error.kind,
                offset: (location ?? start).offset,
                pointer: pointer,
                detail: error.detail
            )
        default:
            return start.error(.mismatch, "\(error)")
        }
    }

    private static func jsonError(of error: DecodingError, _ type: Any.Type, at start: JSONReader) -> JSONError {
        switch error {
        case .keyNotFound(let key, let context):
            return fault(.missing, at: context.codingPath, below: start) { _ in
                "the key \"\(key.stringValue)\" is missing"
            }
        case .typeMismatch(let expected, let context), .valueNotFound(let expected, let context):
            return fault(.mismatch, at: context.codingPath, below: start) { location in
                detail(of: context.debugDescription, expected, at: location)
            }
        case .dataCorrupted(let context):
            let known = JSONError.known(jsonSchema(of: type).knownValues)
            return fault(.mismatch, at: context.codingPath, below: start) { _ in
                detail(ofCorrupted: context.debugDescription) + known
            }
        @unknown default:
            return start.error(.mismatch, "\(error)")
        }
    }

    /// Returns an error at the value that the path leads to.
    ///
    /// If there is no such value, the error is at the start of the whole text.
    private static func fault(
        _ kind: JSONError.Kind,
        at path: [any CodingKey],
        below start: JSONReader,
        _ detail: (_ location: JSONReader?) -> String
    ) -> JSONError {
        let location = start.location(at: path)
        return JSONError(
            kind: kind,
            offset: (location ?? start).offset,
            pointer: location?.pointer ?? start.pointer + JSONPointer(codingPath: path).description,
            detail: detail(location)
        )
    }

    // MARK: - Words

    // Foundation's messages are replaced by the words of the reader's own errors. A message of an app's type is passed
    // on unchanged. If Foundation changes a message, the new message is passed on unchanged too. So only the words of
    // errors depend on this table.

    private static func detail(of words: String, _ expected: Any.Type, at location: JSONReader?) -> String {
        if words.hasPrefix("Invalid number of keys found") {
            return "expected an object with one key, the name of a case of \(expected)"
        }
        if words == "Unkeyed container is at end." { return "the array has too few elements" }
        let isFoundations =
            words.isEmpty || words.hasPrefix("Expected to decode ") || words.hasSuffix("found null value instead")
        if isFoundations, let location, let form = form(of: expected), let found = try? location.peek(),
            found != form.kind
        {
            return location.mismatch(form.article).detail
        }
        return words.isEmpty ? "\(expected) cannot be read from this value" : words
    }

    private static func detail(ofCorrupted words: String) -> String {
        switch words {
        case "": "its type does not accept this value"
        // The reader has already found that the text is JSON. Foundation gives this message also for a number that it
        // cannot convert.
        case "The given data was not valid JSON.":
            "a value in it cannot be read, such as a number that does not fit its type"
        default: words
        }
    }

    /// Returns the JSON form of a type that a decoder asks for; nil for types without a known form.
    private static func form(of type: Any.Type) -> (kind: JSONKind, article: String)? {
        if type is any FixedWidthInteger.Type { return (.number, "an integer") }
        let kind: JSONKind
        switch type {
        case is String.Type: kind = .string
        case is Bool.Type: kind = .bool
        case is any BinaryFloatingPoint.Type, is Decimal.Type: kind = .number
        case _ where type == [String: Any].self: kind = .object
        case _ where type == [Any].self: kind = .array
        default: return nil
        }
        return (kind, kind.article)
    }
}
