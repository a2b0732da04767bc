import Crypto
public import FoundationEssentials
import RivuletBase

/// A key of an ``ItemCollection``, in Bodega's terms.
///
/// Every engine and function stores data under ``rawValue``, as a store's items are stored under their identifiers.
/// Engines that need file names derive them from ``rawValue``. ``value`` is the file name that Bodega's own disk
/// engine uses.
/// Source: <Tests/Rows/Systems.md#e-27>.
public struct CacheKey: Codable, Hashable, Sendable {
    /// The text that the key was made of, or its hash: MD5 in upper case, grouped as 8-4-4-4-12.
    public let value: String
    /// The text that the key was made of.
    public let rawValue: String

    /// Creates a key with the hash of a text as its value.
    public init(_ text: String) {
        value = Self.hash(text)
        rawValue = text
    }

    /// Creates a key with the text itself as its value.
    public init(verbatim text: String) {
        value = text
        rawValue = text
    }

    /// Creates a key with the hash of a URL as its value.
    ///
    /// Before the hash is computed, the URL loses its scheme, a `//` at its start, a `/` at its end, and every `www.`.
    public init(url: URL) {
        value = Self.hash(Self.plainText(of: url))
        rawValue = url.absoluteString
    }

    /// Returns true if both keys have the same bytes in ``rawValue`` and in ``value``.
    public static func == (left: Self, right: Self) -> Bool {
        left.itemKey == right.itemKey && ByteText(left.value) == ByteText(right.value)
    }

    /// Hashes the text that the key was made of.
    public func hash(into hasher: inout Hasher) { hasher.combine(itemKey) }

    var itemKey: ByteText { ByteText(rawValue) }

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
