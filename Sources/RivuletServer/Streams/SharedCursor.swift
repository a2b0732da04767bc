import RivuletBase
import RivuletHTTP
import RivuletSessions
import RivuletStores

/// A version of a store or a value in the form that clients get: `epoch.version`.
///
/// Versions are counted in memory, so each store and value has a new epoch at each start of the server. The cursor is
/// the ETag of a store's list and of a value, the `id` of their events, and the position from which a stream resumes.
struct SharedCursor: Hashable, Sendable, CustomStringConvertible {
    let epoch: String
    let version: UInt64

    init(epoch: String, version: UInt64) {
        self.epoch = epoch
        self.version = version
    }

    /// Reads a client's text; nil if it is no cursor.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 8, let version = UInt64(parts[1]), String(version) == parts[1]
        else { return nil }
        self.init(epoch: String(parts[0]), version: version)
    }

    var description: String { "\(epoch).\(version)" }

    /// The start of a stream for a client that sent this cursor.
    static func start(of resume: String?, epoch: String) -> SharedStart {
        guard let resume = AnswerCoding.plainCursor(resume) else { return .fresh }
        guard let cursor = SharedCursor(resume) else { return .lost(.unknownCursor) }
        return cursor.epoch == epoch ? .after(cursor.version) : .lost(.epochChanged)
    }

    /// The versions that an `If-Match` allows; nil if it allows any version.
    ///
    /// A tag of another epoch allows no version. Source: RFC 9110 §13.1.1.
    ///
    /// - Throws: 400 for a field that is not a list of entity tags, or has no tag.
    static func expected(_ field: String?, epoch: String) throws(Problem) -> [UInt64]? {
        guard let field, field != "*" else { return nil }
        guard let tags = HTTPEntityTag.list(field), !tags.isEmpty else {
            throw Problem(
                .invalidCondition,
                "If-Match takes tags in quotes, as an answer's ETag has them; found \(field)"
            )
        }
        return tags.compactMap { tag in
            let cursor = SharedCursor(ContentTag.unmasked(tag.dropFirst().dropLast()))
            return cursor.flatMap { $0.epoch == epoch ? $0.version : nil }
        }
    }
}
