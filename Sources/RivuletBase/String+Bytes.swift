// Ids and keys of JSON are compared by their bytes. Swift's `==` and `hash(into:)` treat all spellings of a character
// as equal: "é" is U+00E9, or "e" with U+0301.
// Source: <https://www.rfc-editor.org/rfc/rfc8259#section-8.3>.

extension String {
    /// True if both strings have the same bytes in UTF-8.
    @inlinable
    package func hasSameBytes(as other: String) -> Bool {
        let (left, right) = (utf8.span, other.utf8.span)
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    /// Hashes the bytes.
    ///
    /// With `hash(into:)`, many different strings with accents would have the same hash.
    @inlinable
    package func hashBytes(into hasher: inout Hasher) {
        // The bytes are hashed all at once. Hashing each byte alone takes several times as long.
        unsafe utf8.span.bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

/// A text that equals another text only if both have the same bytes.
package struct ByteText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The approximate memory of a text outside of its own value, in bytes.
    package static func heapBytes(of text: String) -> Int {
        text.utf8.count > inlineBytesMax ? 32 + text.utf8.count : 0
    }

    /// The most bytes that a text keeps in its own value.
    private static let inlineBytesMax = 15

    package static func == (left: ByteText, right: ByteText) -> Bool { left.text.hasSameBytes(as: right.text) }

    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
