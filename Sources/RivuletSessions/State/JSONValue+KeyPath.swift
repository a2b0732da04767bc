// Owns where a document has what a key path of its state names.

package import RivuletJSON

extension JSONValue {
    /// The place in this document of what a key path names: an element of a collection is named by its id and stands at an index.
    package func place(of keyPath: JSONPointer) -> JSONPointer {
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
