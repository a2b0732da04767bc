public import RivuletJSON

/// Turns stored documents of one schema version into documents of the next.
///
/// A document is the stored half of a state as JSON, as it was written: `{"p":{…}}` for an ``AppState``. It may lack fields that were
/// added without a new version; what it still lacks after the last step takes the new default, and what no field reads is ignored. So a field that was
/// only added, or only removed, needs no step.
public struct StateMigration: Sendable {
    /// The version of the documents that the step takes; it makes those of the one after it.
    public let version: Int
    private let body: @Sendable (inout JSONValue) throws -> Void

    /// Makes a step from documents of a version, 1 or more, to the next.
    ///
    /// The closure is pure: it may run again for the same document.
    public init(from version: Int, _ migrate: @escaping @Sendable (_ document: inout JSONValue) throws -> Void) {
        self.version = version
        body = migrate
    }

    /// Changes a document.
    ///
    /// - Throws: what the closure throws; the session is not read then, and stays as it is stored.
    package func migrate(_ document: inout JSONValue) throws {
        try body(&document)
    }
}
