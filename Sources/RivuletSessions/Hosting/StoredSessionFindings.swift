package import RivuletEngine

/// How a build would read a session.
package struct StoredSessionFindings: Hashable, Sendable {
    /// Whether it is of an earlier schema version.
    package let isMigrated: Bool
    /// The key paths of what is stored that no field takes; a token `*` stands for any element of a collection.
    package let ignored: Set<String>
    /// What the steps of its migration looked for.
    package let migration: MigrationFindings
}
