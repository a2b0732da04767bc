/// Why JSON text could not be read, and where.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Kind: String, Hashable, Sendable {
        /// The text is not JSON, or a pointer's text is not a JSON Pointer.
        case malformed
        /// An object has the same key twice.
        case duplicateKey
        /// Arrays and objects are nested deeper than ``JSONReader/depthMax``.
        case tooDeep
        /// The value has another type or shape than the reader of it needs.
        case mismatch
        /// An object lacks a key that it must have.
        case missing
        /// An object has a key that its reader does not know.
        case unknownKey
        /// A number does not fit the type it is read as.
        case outOfRange
    }

    /// All that an error says.
    private struct Content: Hashable {
        let kind: Kind
        let offset: Int
        let pointer: String
        let detail: String
    }

    /// Where the content is: an error of a single word keeps every function that passes one on small, and so the generated code.
    private final class Storage: Hashable, Sendable {
        let content: Content

        init(_ content: Content) {
            self.content = content
        }

        static func == (lhs: Storage, rhs: Storage) -> Bool {
            lhs.content == rhs.content
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(content)
        }
    }

    private let storage: Storage

    /// What is wrong.
    public var kind: Kind { storage.content.kind }

    /// The place in the text, in bytes from its start; 0 when there is no text.
    public var offset: Int { storage.content.offset }

    /// The place in the value as a JSON Pointer; empty for the whole value.
    public var pointer: String { storage.content.pointer }

    /// What was expected and what was found, for people.
    public var detail: String { storage.content.detail }

    /// Creates an error.
    public init(kind: Kind, offset: Int = 0, pointer: String = "", detail: String) {
        storage = Storage(Content(kind: kind, offset: offset, pointer: pointer, detail: detail))
    }

    /// How many of the known values an error lists.
    private static let listedMax = 16

    /// The end of a detail that says what would have been right; empty when nothing is known.
    package static func known(_ values: [String]) -> String {
        guard !values.isEmpty else { return "" }
        let more = values.count - listedMax
        let end = more > 0 ? " and \(more) more" : ""
        return "; known are \(values.prefix(listedMax).joined(separator: ", "))\(end)"
    }

    /// Whether the text itself is wrong (HTTP 400), not only what it says (HTTP 422).
    public var isMalformed: Bool {
        switch kind {
        case .malformed, .duplicateKey, .tooDeep: true
        case .mismatch, .missing, .unknownKey, .outOfRange: false
        }
    }

    /// One line for people: the detail, the pointer and the byte offset.
    public var description: String {
        pointer.isEmpty ? "\(detail), at byte \(offset)" : "\(detail), at \(pointer) (byte \(offset))"
    }
}
