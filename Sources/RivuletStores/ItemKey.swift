// Part of Rivulet. See README.md for the architecture.
// Owns the comparison of keys by their spelling.

/// A key that equals another one only when it is spelled the same.
///
/// Swift's strings compare by what they mean: "é" has two spellings, which are one key in a dictionary and two in a database or a URL.
struct ItemKey: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ItemKey, right: ItemKey) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
