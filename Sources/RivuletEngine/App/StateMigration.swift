public import RivuletJSON

/// A step that turns stored documents of one schema version into documents of the next.
///
/// A document is the stored half of a state as it was written, in JSON: `{"p":{…}}` for an ``AppState``. It may lack
/// fields that were added without a new version. A field that is still missing after the last step takes the new
/// default, and a member without a field is ignored. A field that was only added, or only removed, thus needs no step.
public struct StateMigration: Sendable {
    /// The version of the documents that the step migrates; the result has the next version.
    public let version: Int
    private let body: @Sendable (inout JSONValue) throws -> Void

    /// Creates a step from documents of a version, 1 or more, to the next.
    ///
    /// The closure is pure: it may run again for the same document.
    public init(from version: Int, _ migrate: @escaping @Sendable (_ document: inout JSONValue) throws -> Void) {
        self.version = version
        body = migrate
    }

    /// Migrates a document.
    ///
    /// - Throws: The error of the closure. The session is not read then, and its stored document stays unchanged.
    package func migrate(_ document: inout JSONValue) throws {
        try body(&document)
    }
}
