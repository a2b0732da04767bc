// Part of Rivulet. See README.md for the architecture.
// Owns the demand that a body is JSON.

import RivuletHTTP

/// Checks of request bodies.
enum JSONBody {
    /// Accepts `application/json`, with any parameters.
    ///
    /// - Throws: 415, naming the remedy.
    static func checkType(_ contentType: String?) throws(Problem) {
        let type = contentType?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard type != "application/json" else { return }
        let found = contentType.map { "found \"\($0)\"" } ?? "found none"
        throw Problem(
            415,
            "send JSON with Content-Type: application/json (\(found)); with curl: curl --json '\"increment\"'"
        )
    }
}
