// Part of Rivulet. See README.md for the architecture.
// Owns the reading of If-Match as cursors.

import RivuletSessions

/// The cursors of an `If-Match` field.
///
/// Source: spec/http.md §3, RFC 9110 §13.1.1.
enum ExpectedCursors {
    /// The cursors that are met by the session's own; empty when there is no condition.
    ///
    /// `*` asks for nothing. A tag that is no cursor of ours is met by none.
    ///
    /// - Throws: 400 for a field that has no entity tag at all.
    static func parse(_ field: String?) throws(Problem) -> [Cursor] {
        guard let field, field != "*" else { return [] }
        guard field.contains("\"") else {
            throw Problem(400, "If-Match takes a cursor in quotes, as an answer's ETag has it; found \(field)")
        }
        return field.split(separator: ",").map { entry in
            let tag = entry.filter { $0 != " " && $0 != "\t" }
            guard tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\""),
                let cursor = Cursor(tag.dropFirst().dropLast())
            else {
                return Cursor(epoch: "", position: Cursor.Position(version: 0, transients: 0), residence: "")
            }
            return cursor
        }
    }
}
