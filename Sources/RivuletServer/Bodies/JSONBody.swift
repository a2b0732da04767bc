import RivuletHTTP

/// Checks of request bodies.
enum JSONBody {
    /// The content type that nearly every client sends.
    static let usualType = "application/json"

    /// Accepts `application/json` in UTF-8.
    ///
    /// - Throws: 415, naming the remedy.
    static func checkType(_ contentType: String?) throws(Problem) {
        if contentType == usualType { return }
        if let type = contentType.flatMap(HTTPMediaType.init), type.essence == "application/json", type.isUTF8 {
            return
        }
        let found = contentType.map { "found \"\($0)\"" } ?? "found none"
        throw Problem(
            .unsupportedContentType,
            "send JSON in UTF-8 with Content-Type: application/json (\(found)); curl --json does"
        )
    }
}
