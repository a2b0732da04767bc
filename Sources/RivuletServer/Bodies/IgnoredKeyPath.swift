/// A key path that is in stored sessions of an app and not in the app's state.
public struct IgnoredKeyPath: Hashable, Sendable {
    /// What stands for all key paths for which a report had no room.
    static let others = "/*"

    /// The name of the app.
    public let app: String
    /// The key path; a token `*` stands for any element of a collection, and `/*` alone for further key paths.
    public let path: String
    /// How many sessions have something there, in their newest snapshot or the log after it.
    public let sessions: Int
}
