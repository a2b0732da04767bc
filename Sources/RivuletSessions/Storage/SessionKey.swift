/// The name of a session: its app and its id within that app.
///
/// Both parts are opaque to storage, which compares them byte by byte.
public struct SessionKey: Hashable, Sendable {
    /// The name of the app, `[a-z][a-z0-9-]{0,63}`.
    public let app: String
    /// The id of the session within its app, `[A-Za-z0-9_-]{1,128}`.
    public let id: String

    /// Names the session `id` of `app`.
    public init(app: String, id: String) {
        self.app = app
        self.id = id
    }
}

extension SessionKey: CustomStringConvertible {
    /// The app and the id, joined by a slash.
    public var description: String { "\(app)/\(id)" }
}
