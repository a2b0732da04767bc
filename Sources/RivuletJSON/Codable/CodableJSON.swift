public import FoundationEssentials

/// Reads and writes types that are Codable but not ``JSONCodable``.
///
/// It is slower than ``JSONCodable``. Dates are RFC 3339 strings, `Data` is base64.
public struct CodableJSON {
    private init() {}

    /// Writes a value with its keys in order.
    ///
    /// Unordered content, such as a set, is written in the order of its elements' text. If `encode(to:)` throws, as
    /// it does for NaN and infinities, `null` is written and ``JSONWriter/hasUnrepresentableNumber`` is set.
    public static func encode(_ value: some Encodable, into writer: inout JSONWriter) {
        if writer.isCanonical, let text = CanonicalText.text(of: value) {
            writer.hasOtherText = true
            return writer.string(text)
        }
        do {
            writer.raw(try bytes(of: value))
        } catch {
            writer.unrepresentable()
        }
    }

    /// Returns the JSON text of a value.
    static func bytes<Value: Encodable>(of value: Value) throws -> [UInt8] {
        let encoder = encoder()
        guard !FoundationLeaf.isLeaf(Value.self) else { return [UInt8](try encoder.encode(value)) }
        return [UInt8](try encoder.encode(OrderedValue(value)))
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            guard let text = date.rfc3339 else {
                let context = EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "the year of the date does not have four digits"
                )
                throw EncodingError.invalidValue(date, context)
            }
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
        return encoder
    }

    /// Writes the value at a path below `value`.
    ///
    /// An empty path is `value` itself.
    ///
    /// Returns false and writes nothing if there is no such value, or if the type's shape is unknown.
    package static func encode<Value: Encodable>(
        _ value: Value,
        at path: ArraySlice<String>,
        into writer: inout JSONWriter
    ) -> Bool {
        guard !path.isEmpty else {
            encode(value, into: &writer)
            return true
        }
        guard knownSchema(of: Value.self)?.accepts(path: path) == true else { return false }
        var whole = JSONWriter()
        encode(value, into: &whole)
        guard
            let document = try? JSONValue(parsing: whole.bytes),
            let part = document[JSONPointer(tokens: Array(path))]
        else { return false }
        part.encodeJSON(into: &writer)
        return true
    }

    /// Reads a value.
    ///
    /// - Throws: The reader's errors for malformed text. Otherwise `missing` or `mismatch`, with the position and the
    ///   message that the type's `init(from:)` gives. The message lists the type's values if they are known.
    public static func decode<Value: Decodable>(
        _ type: Value.Type,
        from reader: inout JSONReader
    ) throws(JSONError) -> Value {
        let start = reader
        let bytes = try reader.capture()
        // Foundation's decoder would keep one of two spellings of a key, without an error.
        try start.checkSpellings()
        do {
            let decoder = decoder()
            guard !FoundationLeaf.isLeaf(type) else { return try decoder.decode(type, from: Data(bytes)) }
            return try decoder.decode(DistinctValue<Value>.self, from: Data(bytes)).value
        } catch {
            throw jsonError(of: error, type, at: start)
        }
    }

    /// Reads many texts, each with one value; nil if any text cannot be read.
    ///
    /// Foundation's decoder takes longer to start than to read a small value, so it starts once for all texts. The
    /// spellings of keys are not checked, because Rivulet wrote these texts.
    package static func decode<Value: Decodable>(_ type: Value.Type, fromEach texts: [[UInt8]]) -> [Value]? {
        var writer = JSONWriter(capacity: texts.reduce(2) { $0 + $1.count + 1 })
        writer.beginArray()
        for text in texts {
            // Each text must be one value by itself: a comma in one text would shift all others.
            guard (try? JSONReader.validate(text)) != nil else { return nil }
            writer.raw(text)
        }
        writer.endArray()
        let values = try? decoder().decode([Value].self, from: Data(writer.bytes))
        return values?.count == texts.count ? values : nil
    }

    private static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = Date(rfc3339: text) else {
                let description = "expected an RFC 3339 time, found \(String(reflecting: text))"
                throw DecodingError.dataCorruptedError(in: container, debugDescription: description)
            }
            return date
        }
        return decoder
    }
}

extension UUID: JSONCodable {
    /// Writes the form with hyphens in lower case, as a browser's `crypto.randomUUID()` does.
    ///
    /// Source: RFC 9562 §4.
    public func encodeJSON(into writer: inout JSONWriter) {
        writer.string(uuidString.lowercased())
    }

    /// Reads the form with hyphens, in any case.
    public init(json reader: inout JSONReader) throws(JSONError) {
        let offset = reader.offset
        let text = try reader.string()
        guard let uuid = UUID(uuidString: text) else {
            let detail = "expected a UUID, found \(String(reflecting: text))"
            throw JSONError(kind: .mismatch, offset: offset, pointer: reader.pointer, detail: detail)
        }
        self = uuid
    }

    /// A string of format `uuid`.
    public static var jsonSchema: JSONSchema { .string(format: "uuid") }
}

extension Date: JSONCodable {
    /// Writes an RFC 3339 string in UTC.
    ///
    /// A date outside of the years 0000 to 9999 is written as ``JSONWriter/unrepresentable()``.
    public func encodeJSON(into writer: inout JSONWriter) {
        if let text = rfc3339 {
            writer.string(text)
        } else {
            writer.unrepresentable()
        }
    }

    /// Reads an RFC 3339 string of any time zone.
    public init(json reader: inout JSONReader) throws(JSONError) {
        let offset = reader.offset
        let text = try reader.string()
        guard let date = Date(rfc3339: text) else {
            let detail = "expected an RFC 3339 time, found \(String(reflecting: text))"
            throw JSONError(kind: .mismatch, offset: offset, pointer: reader.pointer, detail: detail)
        }
        self = date
    }

    /// A string of format `date-time`.
    public static var jsonSchema: JSONSchema { .string(format: "date-time") }

    fileprivate init?(rfc3339 text: String) {
        guard let time = RFC3339(parsing: text) else { return nil }
        self.init(time)
    }

    private init(_ time: RFC3339) {
        // Whole seconds come first: a sum of two exact terms is rounded only once.
        let seconds = Double(time.seconds) - Date.timeIntervalBetween1970AndReferenceDate
        self.init(timeIntervalSinceReferenceDate: seconds + Double(time.nanoseconds) / 1e9)
    }

    /// The text with the fewest fraction digits, at most nine, that reads back as this date.
    fileprivate var rfc3339: String? {
        let interval = timeIntervalSinceReferenceDate
        guard interval.magnitude < 1e12 else { return nil }
        let whole = interval.rounded(.down)
        var shortest: RFC3339?
        for unit in [1_000_000_000, 1_000_000, 1_000, 1] {
            let units = Int(((interval - whole) * 1e9 / Double(unit)).rounded())
            let (carry, nanoseconds) = (units * unit).quotientAndRemainder(dividingBy: 1_000_000_000)
            let seconds = Int(whole) + Int(Date.timeIntervalBetween1970AndReferenceDate) + carry
            shortest = RFC3339(seconds: seconds, nanoseconds: nanoseconds)
            if let shortest, Date(shortest) == self { break }
        }
        return shortest?.text
    }
}

extension Data: JSONCodable {
    /// Writes a base64 string.
    public func encodeJSON(into writer: inout JSONWriter) {
        writer.string(base64EncodedString())
    }

    /// Reads a base64 string.
    public init(json reader: inout JSONReader) throws(JSONError) {
        let offset = reader.offset
        let text = try reader.string()
        guard let data = Data(base64Encoded: text) else {
            let detail = "expected base64 text"
            throw JSONError(kind: .mismatch, offset: offset, pointer: reader.pointer, detail: detail)
        }
        self = data
    }

    /// A string in base64.
    public static var jsonSchema: JSONSchema {
        .annotated(.string(), [JSONSchema.Annotation("contentEncoding", "base64")])
    }
}
