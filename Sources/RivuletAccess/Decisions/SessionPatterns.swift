import RivuletBase

/// The ids of the sessions that a caller may list.
package struct SessionPatterns: Sendable {
    private let globs: [Glob]

    /// Returns nil without a pattern.
    init?(_ globs: [Glob]) {
        guard !globs.isEmpty else { return nil }
        self.globs = globs
    }

    /// True if the caller may list every session.
    package var isAll: Bool { globs.contains(where: \.isAny) }

    /// The beginning of all ids that a list reads; empty for all sessions.
    ///
    /// The result is nil if the patterns have no beginning in common, so that a list would read the ids of others. The
    /// shortest beginning of a pattern must be the beginning of the others, and not be empty.
    package var prefix: String? {
        guard !isAll else { return "" }
        guard let shortest = globs.map(\.prefix).min(by: { $0.count < $1.count }), !shortest.isEmpty,
            globs.allSatisfy({ $0.prefix.starts(with: shortest) })
        else { return nil }
        return String(decoding: shortest, as: UTF8.self)
    }

    /// Returns true if the caller may see the session.
    package func contains(_ session: String) -> Bool { globs.contains { $0.matches(session) } }
}
