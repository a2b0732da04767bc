import RivuletJSON

/// A key path of a grant: patterns of its tokens.
///
/// The empty path is the whole state.
package struct GrantPath: Sendable, Hashable, CustomStringConvertible {
    private let tokens: [GrantPattern]
    /// The JSON Pointer as it was read.
    package let description: String

    init(_ text: String) throws(GrantError) {
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else {
            throw .member("paths", needs: "key paths that begin with /")
        }
        let pointer: JSONPointer
        do throws(JSONError) {
            pointer = try JSONPointer(parsing: text)
        } catch {
            throw .member("paths", needs: "JSON Pointers, with ~0 for ~ and ~1 for / in a token,")
        }
        var tokens: [GrantPattern] = []
        for token in pointer.tokens { tokens.append(try GrantPattern(token: token, of: text)) }
        self.tokens = tokens
        description = text
    }

    /// True if the path has the subject or a claim, which no anonymous caller has.
    package var needsSubject: Bool { tokens.contains(where: \.needsSubject) }

    /// True if the path has a variable.
    var hasVariables: Bool { tokens.contains(where: \.hasVariables) }

    package static func == (left: GrantPath, right: GrantPath) -> Bool { left.tokens == right.tokens }

    package func hash(into hasher: inout Hasher) { hasher.combine(tokens) }

    /// Returns the path with the caller's values; nil if the caller lacks one of them.
    func pointer(of caller: Caller) -> JSONPointer? {
        var bound: [String] = []
        for token in tokens {
            guard let text = token.token(of: caller) else { return nil }
            bound.append(text)
        }
        return JSONPointer(tokens: bound)
    }
}
