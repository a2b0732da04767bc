import FoundationEssentials

/// Encodes a value with unordered content in the order of the elements' texts, so that equal values have equal JSON.
struct OrderedValue<Value: Encodable>: Encodable {
    private let value: Value

    init(_ value: Value) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        // The type is checked first, which is faster than a check of the value.
        if Value.self is any UnorderedElements.Type, let unordered = value as? any UnorderedElements,
            try unordered.encodeInOrder(to: encoder)
        {
            return
        }
        try value.encode(to: OrderedEncoder(encoder))
    }
}

/// The types that Foundation's coders handle themselves.
///
/// Within ``OrderedValue`` or ``DistinctValue``, the coders would not recognise these types.
enum FoundationLeaf {
    static func isLeaf(_ type: Any.Type) -> Bool {
        type == Date.self || type == Data.self || type == URL.self || type == Decimal.self
    }
}

/// A set or a dictionary of any element types.
private protocol UnorderedElements {
    /// Encodes the elements in the order of their text.
    ///
    /// Returns false and encodes nothing if the value is an object in JSON.
    func encodeInOrder(to encoder: any Encoder) throws -> Bool
}

extension Set: UnorderedElements where Element: Encodable {
    fileprivate func encodeInOrder(to encoder: any Encoder) throws -> Bool {
        // An array of the elements is encoded, so that dates and other special types keep their forms.
        try ElementText.sorted(Array(self)).encode(to: OrderedEncoder(encoder))
        return true
    }
}

extension Dictionary: UnorderedElements where Key: Encodable, Value: Encodable {
    fileprivate func encodeInOrder(to encoder: any Encoder) throws -> Bool {
        guard !Self.isObject else { return false }
        var container = OrderedEncoder(encoder).unkeyedContainer()
        for key in try ElementText.sorted(Array(keys)) {
            guard let value = self[key] else { continue }
            try container.encode(key)
            try container.encode(value)
        }
        return true
    }
}

/// The texts by which elements are ordered.
private enum ElementText {
    /// Returns the elements in the order of their text, byte by byte.
    ///
    /// All texts are made at once: Foundation's encoder takes longer to start than to write a small value.
    static func sorted<Element: Encodable>(_ elements: [Element]) throws -> [Element] {
        guard elements.count > 1 else { return elements }
        let texts = try texts(of: elements)
        let order = texts.indices.sorted { texts[$0].lexicographicallyPrecedes(texts[$1]) }
        return order.map { elements[$0] }
    }

    private static func texts<Element: Encodable>(of elements: [Element]) throws -> [[UInt8]] {
        if let simple = elements as? any SimpleElements { return simple.texts }
        let bytes = try CodableJSON.bytes(of: elements)
        var texts: [[UInt8]] = []
        texts.reserveCapacity(elements.count)
        var reader = JSONReader(bytes)
        try reader.array { (_, reader) throws(JSONError) in texts.append(try reader.capture()) }
        return texts
    }
}

/// Elements with a JSON form that only their type determines.
private protocol SimpleElements {
    var texts: [[UInt8]] { get }
}

extension Array: SimpleElements where Element: SimpleElement & JSONCodable {
    fileprivate var texts: [[UInt8]] { map { $0.jsonBytes() } }
}

/// A type with the same JSON with and without Codable, except for the case of letters.
private protocol SimpleElement {}

extension String: SimpleElement {}
extension Int: SimpleElement {}
extension UUID: SimpleElement {}
