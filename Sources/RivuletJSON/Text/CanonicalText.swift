/// Writes values that are only Codable so that equal ones have equal texts in every process of a build.
enum CanonicalText {
    /// What lies deeper is written as JSON.
    private static let depthMax = 32

    /// A value with more parts is written as JSON: references that lead back would be followed again and again.
    private static let partsMax = 10_000

    /// The text of a value in which elements without an order are sorted by their own texts; nil when all in it has an order, so that its JSON
    /// is as good.
    ///
    /// It finds what a mirror shows; a type that hides a set is taken for one that has an order.
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

    /// The text of a value all of which has an order: its JSON, or that of its parts.
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

    /// Whether a dictionary is written as an object, whose keys are sorted.
    private static func isObject(_ value: Any) -> Bool {
        (type(of: value) as? any DictionaryType.Type)?.isObject == true
    }
}

/// A dictionary whose types are not named.
private protocol DictionaryType {
    static var isObject: Bool { get }
}

extension Dictionary: DictionaryType {
    /// Source: <https://github.com/swiftlang/swift/blob/main/stdlib/public/core/Codable.swift>, `Dictionary.encode(to:)`.
    static var isObject: Bool {
        Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type
    }
}
