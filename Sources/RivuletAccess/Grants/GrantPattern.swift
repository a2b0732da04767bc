import RivuletBase
import RivuletJSON

/// A pattern of a grant with variables, such as `${me}-*`.
///
/// A value of a variable stands for itself: a subject `*` is no run of characters, and a subject `a/b` is one token of
/// a path.
package struct GrantPattern: Sendable, Hashable, CustomStringConvertible {
    enum Part: Sendable, Hashable {
        case text([UInt8])
        /// A run of any characters; in a path, any one token.
        case star
        case me
        /// A value that the caller may have chosen.
        case subject
        case claim(ByteText)

        /// True if callers can choose the value.
        var isChosen: Bool {
            switch self {
            case .subject, .claim: true
            case .text, .star, .me: false
            }
        }
    }

    private let parts: [Part]
    /// The text of the pattern as it was read.
    package let description: String

    package static func == (left: GrantPattern, right: GrantPattern) -> Bool { left.parts == right.parts }

    package func hash(into hasher: inout Hasher) { hasher.combine(parts) }

    /// Reads the pattern of a session's id or of an item's id.
    init(name: String) throws(GrantError) {
        parts = try Self.parts(of: name, in: name)
        description = name
    }

    /// Reads one token of a path, without escapes.
    ///
    /// A token with a `*` is nothing else.
    init(token: String, of path: String) throws(GrantError) {
        parts = try Self.parts(of: token, in: path)
        guard parts.count < 2 || !parts.contains(.star) else { throw .star(path) }
        description = token
    }

    /// True if the pattern has the subject or a claim, which no anonymous caller has.
    package var needsSubject: Bool { parts.contains(where: \.isChosen) }

    /// True if the pattern has a variable.
    var hasVariables: Bool { parts.contains { $0 == .me || $0.isChosen } }

    /// Returns the pattern with the caller's values; nil if the caller lacks one of them.
    func glob(of caller: Caller) -> Glob? {
        var texts: [[UInt8]] = [[]]
        for part in parts {
            guard part != .star else {
                texts.append([])
                continue
            }
            guard let value = Self.value(of: part, caller) else { return nil }
            texts[texts.count - 1] += value
        }
        return Glob(texts: texts)
    }

    /// Returns the token with the caller's values; nil if the caller lacks one of them.
    ///
    /// The value `*` has no token either, because it would stand for every token.
    func token(of caller: Caller) -> String? {
        guard parts != [.star] else { return PathMask.wildcard }
        var bytes: [UInt8] = []
        for part in parts {
            guard let value = Self.value(of: part, caller) else { return nil }
            bytes += value
        }
        let token = String(decoding: bytes, as: UTF8.self)
        return token.hasSameBytes(as: PathMask.wildcard) ? nil : token
    }

    private static func value(of part: Part, _ caller: Caller) -> [UInt8]? {
        let value: String?
        switch part {
        case .text(let bytes): return bytes
        case .star: return nil
        case .me: value = caller.me
        case .subject: value = caller.subject
        case .claim(let name): value = caller.claims[name.text]?.stringValue
        }
        // An empty value would make `${me}-*` a pattern that other names match. The patterns of a grant have no control
        // characters, and callers can choose values.
        guard let value, !value.isEmpty, !ForeignText.hasControlCharacter(value) else { return nil }
        return Array(value.utf8)
    }

    /// Reads by bytes: a `{` with a combining character behind it is the same byte.
    private static func parts(of text: String, in whole: String) throws(GrantError) -> [Part] {
        var parts: [Part] = []
        var literal: [UInt8] = []
        var rest = Array(text.utf8)[...]
        func flush() {
            if !literal.isEmpty { parts.append(.text(literal)) }
            literal = []
        }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "*"):
                flush()
                parts.append(.star)
            case UInt8(ascii: "$") where rest.first == UInt8(ascii: "{"):
                flush()
                guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else { throw .variable(whole) }
                parts.append(try variable(rest[rest.startIndex + 1..<end], in: whole))
                rest = rest[(end + 1)...]
            default: literal.append(byte)
            }
        }
        flush()
        // A value of the caller's choice beside other text would match the names of other callers.
        guard parts.count < 2 || !parts.contains(where: \.isChosen) else { throw .variable(whole) }
        return parts.isEmpty ? [.text([])] : parts
    }

    private static func variable(_ name: ArraySlice<UInt8>, in whole: String) throws(GrantError) -> Part {
        if name.elementsEqual("me".utf8) { return .me }
        if name.elementsEqual("sub".utf8) { return .subject }
        let claim = Array("claim.".utf8)
        guard name.starts(with: claim), name.count > claim.count,
            !name.contains(where: { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "{") })
        else { throw .variable(whole) }
        return .claim(ByteText(String(decoding: name.dropFirst(claim.count), as: UTF8.self)))
    }
}
