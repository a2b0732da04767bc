// Owns the translation of key paths to positions in a document.

package import RivuletJSON

extension JSONValue {
    /// Returns the position in this document of the value that a key path names.
    ///
    /// A key path names an element of a collection by its id; the position has the element's index.
    package func pointer(of keyPath: JSONPointer) -> JSONPointer {
        var value: JSONValue? = self
        var tokens: [String] = []
        for token in keyPath.tokens {
            if let elements = value?.elements {
                let index = elements.firstIndex { $0.hasID(token) } ?? JSONPointer.index(token)
                tokens.append(index.map(String.init) ?? token)
                value = index.flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            } else {
                tokens.append(token)
                value = value?[token]
            }
        }
        return JSONPointer(tokens: tokens)
    }

    private func hasID(_ token: String) -> Bool {
        switch self["id"] {
        case .string(let text): text.utf8.elementsEqual(token.utf8)
        case .number(let text): text == token
        default: false
        }
    }
}
