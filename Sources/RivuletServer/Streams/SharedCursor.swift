import RivuletBase
import RivuletHTTP
import RivuletSessions
import RivuletStores

/// A version of a store or a value, as clients have it: `epoch.version`.
///
/// Versions are counted in memory, so each store and value has an epoch of its own at each start of the server. It is the ETag of a
/// store's list and of a value, the `id` of their events, and where a stream goes on.
struct SharedCursor: Hashable, Sendable, CustomStringConvertible {
    let epoch: String
    let version: UInt64

    init(epoch: String, version: UInt64) {
        self.epoch = epoch
        self.version = version
    }

    /// Reads a client's text; nil when it is none.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 8, let version = UInt64(parts[1]), String(version) == parts[1]
        else { return nil }
        self.init(epoch: String(parts[0]), version: version)
    }

    var description: String { "\(epoch).\(version)" }

    /// Where a stream begins whose reader says that it stands there.
    static func start(of resume: String?, epoch: String) -> SharedStart {
        guard let resume = AnswerCoding.plainCursor(resume) else { return .fresh }
        guard let cursor = SharedCursor(resume) else { return .lost(.unknownCursor) }
        return cursor.epoch == epoch ? .after(cursor.version) : .lost(.epochChanged)
    }

    /// The versions that an `If-Match` asks for; nil: any will do.
    ///
    /// A tag of another epoch is no version now. Source: RFC 9110 §13.1.1.
    /// - Throws: 400 for a field that has no entity tag at all.
    static func expected(_ field: String?, epoch: String) throws(Problem) -> [UInt64]? {
        guard let field, field != "*" else { return nil }
        guard let tags = HTTPEntityTag.list(field), !tags.isEmpty else {
            throw Problem(
                .invalidCondition,
                "If-Match takes tags in quotes, as an answer's ETag has them; found \(field)"
            )
        }
        return tags.compactMap { tag in
            SharedCursor(tag.dropFirst().dropLast()).flatMap { $0.epoch == epoch ? $0.version : nil }
        }
    }
}
