import RivuletHTTP
import RivuletSessions

/// The cursors of an `If-Match` field.
///
/// Source: <Documentation/HTTP.md#dispatch>, RFC 9110 §13.1.1.
enum ExpectedCursors {
    /// The cursors that are met by the session's own; empty when there is no condition.
    ///
    /// `*` asks for nothing. A tag that is no cursor of ours is met by none. The tag of a version of the past stands for that version; its hash is not compared.
    ///
    /// - Throws: 400 for a field that has no entity tag at all.
    static func parse(_ field: String?) throws(Problem) -> [Cursor] {
        guard let field, field != "*" else { return [] }
        guard let tags = HTTPEntityTag.list(field), !tags.isEmpty else {
            throw Problem(
                .invalidCondition,
                "If-Match takes a cursor in quotes, as an answer's ETag has it; found \(field)"
            )
        }
        return tags.map { tag in
            ContentTag.cursor(in: tag[...])
                ?? Cursor(epoch: "", position: Cursor.Position(version: 0, transients: 0), residence: "")
        }
    }
}
