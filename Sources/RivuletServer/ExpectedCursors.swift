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
    static func parse(_ field: String?) -> [Cursor] {
        guard let field, field != "*" else { return [] }
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
