import Crypto
public import FoundationEssentials

/// A key of an ``ItemCollection``, in Bodega's words.
///
/// What is stored lies under ``rawValue``, on every engine and by every function, as a store's items lie under their identifiers;
/// engines that need names of files make them of it. ``value`` is the name that upstream's file engine gives it.
/// Source: <Tests/Rows/Systems.md#e-27>.
public struct CacheKey: Codable, Hashable, Sendable {
    /// The text itself, or the hash of it: MD5 in upper case, grouped as 8-4-4-4-12.
    public let value: String
    /// The text that the key was made of.
    public let rawValue: String

    /// A key whose value is the hash of a text.
    public init(_ text: String) {
        value = Self.hash(text)
        rawValue = text
    }

    /// A key whose value is the text as it is.
    public init(verbatim text: String) {
        value = text
        rawValue = text
    }

    /// A key whose value is the hash of a URL without its scheme, a `//` before it, a `/` behind it, and every `www.`.
    public init(url: URL) {
        value = Self.hash(Self.plainText(of: url))
        rawValue = url.absoluteString
    }

    /// Keys are equal when both their texts are spelled the same.
    public static func == (left: Self, right: Self) -> Bool {
        left.itemKey == right.itemKey && ItemKey(left.value) == ItemKey(right.value)
    }

    /// Feeds the text that the key was made of.
    public func hash(into hasher: inout Hasher) { hasher.combine(itemKey) }

    var itemKey: ItemKey { ItemKey(rawValue) }

    private static func hash(_ text: String) -> String {
        let digits: [UInt8] = Array("0123456789ABCDEF".utf8)
        var hash: [UInt8] = []
        for (index, byte) in Insecure.MD5.hash(data: Array(text.utf8)).enumerated() {
            if [4, 6, 8, 10].contains(index) { hash.append(UInt8(ascii: "-")) }
            hash += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: hash, as: UTF8.self)
    }

    private static func plainText(of url: URL) -> String {
        var components = URLComponents(string: url.absoluteString)
        components?.scheme = nil
        guard var text = components?.url?.absoluteString else { return url.absoluteString }
        if text.hasPrefix("//") { text.removeFirst(2) }
        if text.hasSuffix("/") { text.removeLast() }
        return text.replacing("www.", with: "")
    }
}
