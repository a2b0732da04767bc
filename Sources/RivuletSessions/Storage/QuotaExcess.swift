/// The limit of a quota that a write would exceed.
public struct QuotaExcess: Hashable, Sendable, CustomStringConvertible {
    /// The sessions that the limit counts.
    public enum Scope: String, Hashable, Sendable {
        /// All sessions of the app.
        case app
        /// The sessions of one owner in the app.
        case owner
    }

    /// The unit of the limit.
    public enum Measure: String, Hashable, Sendable {
        /// The number of sessions.
        case sessions
        /// The stored bytes of the sessions.
        case bytes
    }

    /// The name of the app.
    public let app: String
    /// The sessions that are counted.
    public let scope: Scope
    /// The unit.
    public let measure: Measure
    /// The limit, in sessions or bytes.
    public let limit: Int

    /// Describes a limit.
    public init(app: String, scope: Scope, measure: Measure, limit: Int) {
        (self.app, self.scope, self.measure, self.limit) = (app, scope, measure, limit)
    }

    /// The limit's name in `StorageQuota`.
    public var limitName: String {
        switch (scope, measure) {
        case (.app, .sessions): "sessionsMax"
        case (.app, .bytes): "bytesMax"
        case (.owner, .sessions): "ownerSessionsMax"
        case (.owner, .bytes): "ownerBytesMax"
        }
    }

    /// The limit, and the remedy.
    public var description: String {
        let unit = measure == .sessions ? "sessions" : "bytes in its sessions"
        let holder = scope == .app ? "the app \"\(app)\"" : "one owner in the app \"\(app)\""
        return "\(holder) may have \(limit) \(unit) (\(limitName)); delete sessions, or raise the app's quota"
    }
}
