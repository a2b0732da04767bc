import OrderedCollections

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
        // All at once: feeding each of them alone takes several times as long.
        unsafe text.utf8.span.bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

extension OrderedDictionary where Key == ItemKey {
    /// Removes keys, those that are there.
    mutating func remove(_ keys: [ItemKey]) {
        // Each removal moves up what stands behind it: of many keys one walk over everything costs less.
        if keys.count < 4 {
            for key in keys { self[key] = nil }
        } else {
            let gone = Set(keys)
            removeAll { gone.contains($0.key) }
        }
    }
}
