/// How a stream writes its changes.
///
/// Source: <Documentation/HTTP.md#change-streams>.
package enum StreamFormat: String, CaseIterable, Hashable, Sendable {
    /// `{"version":v,"changes":[…]}`, elements of collections named by their ids.
    case changes
    /// An RFC 6902 array against the document at the stream's one path, elements named by their indices.
    case jsonPatch = "json-patch"
}
