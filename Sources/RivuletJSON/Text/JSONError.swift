/// The reason that JSON text could not be read, with its position.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error.
    public enum Kind: String, Hashable, Sendable {
        /// The text is not JSON, or a pointer's text is not a JSON Pointer.
        case malformed
        /// An object has the same key twice.
        case duplicateKey
        /// Arrays and objects are nested deeper than ``JSONReader/depthMax``.
        case tooDeep
        /// The value has another type or shape than its reader needs.
        case mismatch
        /// An object lacks a key that it must have.
        case missing
        /// An object has a key that is unknown to its reader.
        case unknownKey
        /// A number does not fit the type it is read as.
        case outOfRange
    }

    /// The content of an error.
    private struct Content: Hashable {
        let kind: Kind
        let offset: Int
        let pointer: String
        let detail: String
    }

    /// Holds the content.
    ///
    /// The error is a single reference, so that functions that pass it on compile to little code.
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

    /// The kind of the error.
    public var kind: Kind { storage.content.kind }

    /// The position in the text, in bytes from its start; 0 if there is no text.
    public var offset: Int { storage.content.offset }

    /// The position in the value as a JSON Pointer; empty for the whole value.
    public var pointer: String { storage.content.pointer }

    /// The expected and the found value, as text for people.
    public var detail: String { storage.content.detail }

    /// Creates an error.
    public init(kind: Kind, offset: Int = 0, pointer: String = "", detail: String) {
        storage = Storage(Content(kind: kind, offset: offset, pointer: pointer, detail: detail))
    }

    /// The number of known values that an error lists.
    private static let listedMax = 16

    /// Returns the end of a detail, which lists the valid values; empty if no valid values are known.
    package static func known(_ values: [String]) -> String {
        guard !values.isEmpty else { return "" }
        let more = values.count - listedMax
        let end = more > 0 ? " and \(more) more" : ""
        return "; use one of \(values.prefix(listedMax).joined(separator: ", "))\(end)"
    }

    /// True if the text itself is invalid (HTTP 400), false if only its meaning is (HTTP 422).
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
