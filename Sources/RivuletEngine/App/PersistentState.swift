/// A state half that is written to disk.
///
/// Source: <Tests/Rows/Systems.md#d-02>.
public protocol PersistentState: Codable, Equatable, Sendable {
    /// The version of the stored document's shape; 1 unless the type says otherwise.
    ///
    /// It is kept beside every stored snapshot. Evolution is the type's own: absent fields take their defaults, unknown ones are
    /// ignored.
    var version: Int { get }
}

extension PersistentState {
    /// The first shape of a document.
    public var version: Int { 1 }
}
