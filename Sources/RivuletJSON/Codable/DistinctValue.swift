/// A value that cannot be decoded if it has a dictionary with equal keys.
///
/// Swift alone would silently keep one of the equal keys.
struct DistinctValue<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try Value(from: DistinctDecoder(decoder))
        guard Value.self is any DecodedDictionary.Type else { return }
        try (value as? any DecodedDictionary)?.checkKeys(in: decoder)
    }
}

/// A dictionary of any key and value types.
private protocol DecodedDictionary {
    /// Throws at the position of a key that means the same as another key.
    func checkKeys(in decoder: any Decoder) throws
}

extension Dictionary: DecodedDictionary where Key: Decodable, Value: Decodable {
    fileprivate func checkKeys(in decoder: any Decoder) throws {
        if Self.isObject {
            let names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
            if names.count > count { try Self.checkNames(names.sorted(), decoder.codingPath) }
        } else {
            var container = try decoder.unkeyedContainer()
            if let length = container.count, length > 2 * count { try Self.checkElements(&container) }
        }
    }

    private static func checkNames(_ names: [String], _ path: [any CodingKey]) throws {
        guard let type = Key.self as? any CodingKeyRepresentable.Type else { return }
        var spellings: [String: [String]] = [:]
        for name in names {
            guard let key = meaning(of: name, type) else { continue }
            spellings[key, default: []].append(name)
        }
        for name in names {
            guard let key = meaning(of: name, type), let same = spellings[key], same.count > 1 else { continue }
            // The plain spelling is kept.
            guard let wrong = same.first(where: { $0 != key }) else { continue }
            let kept = same.first { $0 != wrong } ?? key
            let words = "\"\(wrong)\" is the same key as \"\(kept)\" here; write it once"
            throw DecodingError.dataCorrupted(.init(codingPath: path + [AnyKey(wrong)], debugDescription: words))
        }
    }

    /// Returns the plain spelling of the key that a name means.
    private static func meaning<Representable: CodingKeyRepresentable>(
        of name: String,
        _ type: Representable.Type
    ) -> String? {
        type.init(codingKey: AnyKey(name))?.codingKey.stringValue
    }

    private static func checkElements(_ container: inout any UnkeyedDecodingContainer) throws {
        var keys = Set<Key>()
        while !container.isAtEnd {
            let index = container.currentIndex
            guard try !keys.insert(container.decode(Key.self)).inserted else {
                _ = try container.decode(Value.self)
                continue
            }
            let path = container.codingPath + [AnyKey(index)]
            throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: "this key occurs twice"))
        }
    }
}

/// A key with any name, or with a position in an array.
private struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = Int(name)
    }

    init(_ index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) {
        self.init(stringValue)
    }

    init?(intValue: Int) {
        self.init("\(intValue)")
    }
}
