/// A key path's text, which equals another text only if both are spelled the same.
///
/// Swift compares strings by meaning: "é" has two spellings that are equal. Two elements may have ids that differ in
/// spelling only, and clients compare the bytes.
struct PathText: Hashable, Comparable {
    let text: String

    init(_ text: some StringProtocol) {
        self.text = String(text)
    }

    static func == (left: PathText, right: PathText) -> Bool {
        left.isSpelled(as: right.text.utf8.span)
    }

    /// True if these are the bytes of the text.
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
        // All bytes at once: feeding each byte alone takes several times as long.
        unsafe text.utf8.span.bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// The path of the node that directly contains this one; nil for the root.
    var parent: PathText? {
        text.utf8.lastIndex(of: UInt8(ascii: "/")).map { PathText(text[..<$0]) }
    }

    /// The paths of all nodes that contain this one, the innermost first.
    var ancestors: some Sequence<PathText> {
        sequence(state: self) { path in
            guard let parent = path.parent else { return nil }
            path = parent
            return parent
        }
    }
}
