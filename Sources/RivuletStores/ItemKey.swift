// Part of Rivulet. See README.md for the architecture.
// Owns the comparison of keys by their spelling.

/// A key that equals another one only when it is spelled the same.
///
/// Swift's strings compare by what they mean: "é" has two spellings, which are one key in a dictionary and two in a database or a URL.
package struct ItemKey: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (left: ItemKey, right: ItemKey) -> Bool {
        let (left, right) = (left.text.utf8.span, right.text.utf8.span)
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    /// Not the text's own hash: of a text that is written with accents there are any number of spellings with one hash.
    package func hash(into hasher: inout Hasher) {
        let bytes = text.utf8.span
        var (word, position) = (UInt64(0), 0)
        // Eight at a time: feeding each of them alone takes several times as long.
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            position += 1
            guard position == 8 else { continue }
            hasher.combine(word)
            (word, position) = (0, 0)
        }
        hasher.combine(word)
        hasher.combine(bytes.count)
    }
}
