/// The most sessions and stored bytes of one app, and of each owner in it; nil is no limit.
///
/// The bytes are those of the logs and snapshots of sessions. Idempotency records, stores and values are not counted.
/// Sessions without an owner count for the app only.
public struct StorageQuota: Hashable, Sendable {
    /// The most sessions of the app.
    public var sessionsMax: Int?
    /// The most stored bytes of the app's sessions.
    public var bytesMax: Int?
    /// The most sessions that one caller may own.
    public var ownerSessionsMax: Int?
    /// The most stored bytes of the sessions that one caller owns.
    public var ownerBytesMax: Int?

    /// Sets the limits; a limit that is left out does not apply.
    public init(
        sessionsMax: Int? = nil,
        bytesMax: Int? = nil,
        ownerSessionsMax: Int? = nil,
        ownerBytesMax: Int? = nil
    ) {
        self.sessionsMax = sessionsMax
        self.bytesMax = bytesMax
        self.ownerSessionsMax = ownerSessionsMax
        self.ownerBytesMax = ownerBytesMax
    }

    /// No limits: nothing is counted.
    public static let none = StorageQuota()

    /// The name of the first limit that is below 1; nil if all are valid.
    package var invalidLimit: String? {
        [
            ("sessionsMax", sessionsMax), ("bytesMax", bytesMax), ("ownerSessionsMax", ownerSessionsMax),
            ("ownerBytesMax", ownerBytesMax),
        ].first { $0.1.map { $0 < 1 } ?? false }?.0
    }
}
