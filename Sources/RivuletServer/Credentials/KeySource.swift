import RivuletAccess

/// Fetches key sets from URLs, because the server itself has no client for TLS.
///
/// `rivulet serve` has a source that runs curl. A program that names a URL in ``CredentialFiles`` sets one of its own.
public protocol KeySource: Sendable {
    /// Returns the JSON Web Key Set at an https URL, of at most 65,536 bytes.
    ///
    /// The server calls it at the start, and later on threads of its own, one call at a time. It may block, and
    /// should end within 10 seconds. It must follow no redirect, because the URL alone is what the operator trusts.
    ///
    /// - Throws: an error with a description of one line, for the operator.
    func keySet(at url: String) throws -> [UInt8]
}

/// The URL of a key set.
enum KeySetURL {
    /// The most bytes of a URL.
    static let bytesMax = 2_048

    /// Returns true if the text is a URL, and not the path of a file.
    static func isURL(_ text: String) -> Bool {
        let beginning = text.prefix(8).lowercased()
        return beginning.hasPrefix("https://") || beginning.hasPrefix("http://")
    }

    /// Checks a URL: https, and no credential in it, which logs would show.
    ///
    /// - Throws: a `ServerError` with the remedy.
    static func check(_ url: String) throws(ServerError) {
        guard url.hasPrefix("https://") else {
            throw ServerError(
                "the key set \(ForeignText.quoted(url)) is fetched without TLS; use https://, or name a file"
            )
        }
        let authority = url.dropFirst("https://".count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard url.utf8.count <= bytesMax, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !authority.isEmpty,
            !authority.contains("@"), !url.contains("#")
        else {
            throw ServerError(
                "the URL of a key set is https:// and a host, without a user name and a fragment, of at most \(bytesMax) visible characters"
            )
        }
    }
}
