/// A pattern of names, in which `*` stands for any run of bytes, also for none.
///
/// The work of a match is at most the product of both lengths, and no pattern is a regular expression.
package struct Glob: Sendable, CustomStringConvertible {
    /// The most bytes of a pattern.
    package static let bytesMax = 128

    private let pattern: [UInt8]

    /// Creates a pattern; nil for an empty text and for more than ``bytesMax`` bytes.
    package init?(_ text: String) {
        pattern = Array(text.utf8)
        guard (1...Self.bytesMax).contains(pattern.count) else { return nil }
    }

    /// The text of the pattern.
    package var description: String { String(decoding: pattern, as: UTF8.self) }

    /// Returns true if the pattern matches the whole name, by its bytes.
    package func matches(_ name: String) -> Bool {
        let name = Array(name.utf8)
        var (position, index) = (0, 0)
        // The last star, and the first byte after the run that it stands for.
        var (star, resume) = (-1, 0)
        while position < name.count {
            if index < pattern.count, pattern[index] == UInt8(ascii: "*") {
                (star, resume) = (index, position)
                index += 1
            } else if index < pattern.count, pattern[index] == name[position] {
                index += 1
                position += 1
            } else if star >= 0 {
                resume += 1
                (index, position) = (star + 1, resume)
            } else {
                return false
            }
        }
        return pattern[index...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
