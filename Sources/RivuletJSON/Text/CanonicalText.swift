/// Writes values that are only Codable, with equal texts for equal values in every process of the same build.
enum CanonicalText {
    /// The largest depth of nested parts; deeper parts are written as JSON.
    private static let depthMax = 32

    /// The most parts of a value; a larger value is written as JSON.
    ///
    /// The limit also ends cycles of references.
    private static let partsMax = 10_000

    /// Returns the text of a value, with unordered elements sorted by their own texts.
    ///
    /// Returns nil if everything in the value has an order, because the value's JSON is then the same in every process.
    /// The search uses a mirror, so a type that hides a set from its mirror is taken as ordered.
    static func text(of value: Any) -> String? {
        var partsLeft = partsMax
        let text = text(of: value, depth: 0, &partsLeft)
        return partsLeft > 0 ? text : nil
    }

    private static func text(of value: Any, depth: Int, _ partsLeft: inout Int) -> String? {
        guard depth < depthMax, partsLeft > 0 else { return nil }
        partsLeft -= 1
        let mirror = Mirror(reflecting: value)
        let children = Array(mirror.children)
        let isUnordered =
            switch mirror.displayStyle {
            case .set: children.count > 1
            case .dictionary: children.count > 1 && !isObject(value)
            default: false
            }
        let texts = children.map { text(of: $0.value, depth: depth + 1, &partsLeft) }
        guard isUnordered || texts.contains(where: { $0 != nil }) else { return nil }
        let parts = zip(children, texts).map { child, text in
            "\(child.label ?? ""):\(text ?? plainText(of: child.value, depth: depth + 1, &partsLeft))"
        }
        let hasOrder = mirror.displayStyle != .set && mirror.displayStyle != .dictionary
        return "(\((hasOrder ? parts : parts.sorted()).joined(separator: ",")))"
    }

    /// Returns the text of an ordered value: its JSON, or the texts of its parts.
    private static func plainText(of value: Any, depth: Int, _ partsLeft: inout Int) -> String {
        if let value = value as? any Encodable {
            var writer = JSONWriter()
            CodableJSON.encode(value, into: &writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
        let children = Mirror(reflecting: value).children
        partsLeft -= 1
        guard depth < depthMax, partsLeft > 0, !children.isEmpty else { return String(describing: value) }
        return "(\(children.map { plainText(of: $0.value, depth: depth + 1, &partsLeft) }.joined(separator: ",")))"
    }

    /// Returns true for a dictionary that is written as an object, with sorted keys.
    private static func isObject(_ value: Any) -> Bool {
        (type(of: value) as? any DictionaryType.Type)?.isObject == true
    }
}

/// A dictionary of any key and value types.
private protocol DictionaryType {
    static var isObject: Bool { get }
}

extension Dictionary: DictionaryType {
    /// Source: <https://github.com/swiftlang/swift/blob/main/stdlib/public/core/Codable.swift>,
    /// `Dictionary.encode(to:)`.
    static var isObject: Bool {
        Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type
    }
}
