import RivuletAccess

/// The reason that keys, issuers or API keys cannot be used: one line with the fix.
package enum AuthConfigurationError: Error, Hashable, CustomStringConvertible {
    /// A key; `name` is its kid, or its position in the set.
    case key(name: String, KeyError)
    /// A document as a whole.
    case document(String)
    /// An issuer; nil for the one without a name.
    case issuer(String?, String)
    /// A record of an API key; `name` is its id, or its position in the file.
    case apiKey(name: String, String)

    package var description: String {
        switch self {
        case .key(let name, let error): "The key \(name) \(error)"
        case .document(let text): text
        case .issuer(let name, let text): "The issuer \(name.map(ForeignText.quoted) ?? "without a name") \(text)"
        case .apiKey(let name, let text): "The API key \(name) \(text)"
        }
    }
}
