import RivuletBase

/// A pattern of names: texts, with a run of any bytes between each two of them.
///
/// The pattern `a*` has the texts `a` and an empty one. A text may have a `*` of its own, which stands for itself. The
/// work of a match is at most the product of both lengths, and no pattern is a regular expression.
package struct Glob: Sendable, Hashable {
    /// The most bytes of a pattern in a grant.
    package static let bytesMax = 128

    /// At least one.
    private let texts: [[UInt8]]

    /// Creates a pattern of the texts between its runs; nil without any text, which is no pattern.
    package init?(texts: [[UInt8]]) {
        guard !texts.isEmpty else { return nil }
        self.texts = texts
    }

    /// Matches every name.
    package static let any = Glob(any: ())

    private init(any: Void) { texts = [[], []] }

    /// True if the pattern matches every name.
    package var isAny: Bool { texts.count > 1 && texts.allSatisfy(\.isEmpty) }

    /// The beginning of every name that the pattern matches.
    package var prefix: [UInt8] { texts[0] }

    /// A hash that is the same for equal patterns in every process.
    var stableHash: UInt64 {
        var hash = StableHash()
        for text in texts { hash.add(text: String(decoding: text, as: UTF8.self)) }
        return hash.value
    }

    /// The approximate memory of the pattern, in bytes.
    var bytes: Int { texts.reduce(48) { $0 + ($1.isEmpty ? 8 : 56 + $1.count) } }

    /// Returns true if the pattern matches the whole name, by its bytes.
    package func matches(_ name: String) -> Bool { matches(Array(name.utf8)) }

    /// Returns true if the pattern matches the whole name, by its bytes.
    func matches(_ name: [UInt8]) -> Bool {
        guard texts.count > 1 else { return name == texts[0] }
        let (first, last) = (texts[0], texts[texts.count - 1])
        guard name.count >= first.count + last.count, name.starts(with: first),
            name.suffix(last.count).elementsEqual(last)
        else { return false }
        // Between the first text and the last one, each text is found as early as possible.
        var rest = name[first.count..<name.count - last.count]
        for text in texts.dropFirst().dropLast() {
            guard let end = Self.end(of: text, in: rest) else { return false }
            rest = rest[end...]
        }
        return true
    }

    /// Returns the position after the first occurrence of a text.
    private static func end(of text: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard !text.isEmpty else { return bytes.startIndex }
        guard bytes.count >= text.count else { return nil }
        for start in bytes.startIndex...bytes.endIndex - text.count
        where bytes[start..<start + text.count].elementsEqual(text) {
            return start + text.count
        }
        return nil
    }
}
