// This file owns what becomes of the errors of Foundation's decoder and of the types that it decodes.

import FoundationEssentials

extension CodableJSON {
    /// The error of a value that could not be decoded; `start` is about to read it.
    static func jsonError(of error: any Error, _ type: Any.Type, at start: JSONReader) -> JSONError {
        switch error {
        case let error as DecodingError:
            return jsonError(of: error, type, at: start)
        case let error as JSONError:
            // A state or an event within the value: it was read from a text of its own, where its offset counts.
            let place = (try? JSONPointer(parsing: error.pointer)).flatMap { start.place(at: $0) }
            let pointer = start.pointer + error.pointer
            return JSONError(kind: error.kind, offset: (place ?? start).offset, pointer: pointer, detail: error.detail)
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
            return fault(.mismatch, at: context.codingPath, below: start) { place in
                detail(of: context.debugDescription, expected, at: place)
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

    /// An error at the value that the path leads to, or, when there is none, at the start of the whole.
    private static func fault(
        _ kind: JSONError.Kind,
        at path: [any CodingKey],
        below start: JSONReader,
        _ detail: (_ place: JSONReader?) -> String
    ) -> JSONError {
        let place = start.place(at: path)
        return JSONError(
            kind: kind,
            offset: (place ?? start).offset,
            pointer: place?.pointer ?? start.pointer + JSONPointer(codingPath: path).description,
            detail: detail(place)
        )
    }

    // MARK: - Words

    // Foundation's words become those of the reader's own errors; what a type of the app says is told as it is. Words that
    // Foundation does not use any more are told as they are too, so nothing but the wording hangs on them.

    private static func detail(of words: String, _ expected: Any.Type, at place: JSONReader?) -> String {
        if words.hasPrefix("Invalid number of keys found") {
            return "expected an object with one key, the name of a case of \(expected)"
        }
        if words == "Unkeyed container is at end." { return "the array has too few elements" }
        let isFoundations =
            words.isEmpty || words.hasPrefix("Expected to decode ") || words.hasSuffix("found null value instead")
        if isFoundations, let place, let form = form(of: expected), let found = try? place.peek(), found != form.kind {
            return place.mismatch(form.article).detail
        }
        return words.isEmpty ? "\(expected) cannot be read from this value" : words
    }

    private static func detail(ofCorrupted words: String) -> String {
        switch words {
        case "": "its type does not take this value"
        // The reader has found the text to be JSON; Foundation says so of a number that it cannot convert, too.
        case "The given data was not valid JSON.":
            "a value in it cannot be read, such as a number that does not fit its type"
        default: words
        }
    }

    /// The form in which JSON has the values of a type that a decoder asks for; nil for any other type.
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
