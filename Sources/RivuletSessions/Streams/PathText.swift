/// A key path's text that equals another one only when it is spelled the same.
///
/// Swift's strings compare by what they mean: "é" has two spellings, and so may an element's id, but a client sees bytes.
struct PathText: Hashable, Comparable {
    let text: String

    init(_ text: some StringProtocol) {
        self.text = String(text)
    }

    static func == (left: PathText, right: PathText) -> Bool {
        left.isSpelled(as: right.text.utf8.span)
    }

    /// Whether these are the bytes of the text.
    func isSpelled(as bytes: Span<UInt8>) -> Bool {
        let own = text.utf8.span
        guard own.count == bytes.count else { return false }
        for index in own.indices where own[index] != bytes[index] { return false }
        return true
    }

    static func < (left: PathText, right: PathText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        // All at once: feeding each of them alone takes several times as long.
        unsafe text.utf8.span.bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// The path of what contains this place directly; nil for the root.
    var parent: PathText? {
        text.utf8.lastIndex(of: UInt8(ascii: "/")).map { PathText(text[..<$0]) }
    }

    /// The paths of all that contains this place, from the inside.
    var ancestors: some Sequence<PathText> {
        sequence(state: self) { path in
            guard let parent = path.parent else { return nil }
            path = parent
            return parent
        }
    }
}
