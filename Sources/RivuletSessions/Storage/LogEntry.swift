/// One durable version of a session: the event that made it, and its changes.
public struct LogEntry: Hashable, Sendable {
    /// The version that this entry makes; dense within an epoch, from 1.
    public let version: UInt64
    /// The time at which the event was accepted, in milliseconds since 1970-01-01T00:00:00Z.
    public let time: Int64
    /// The client's idempotency key, if it sent one.
    ///
    /// It serves human readers of the log only. Exact retries use `IdempotencyRecord`.
    public let commandID: String?
    /// The event as UTF-8 JSON.
    public let event: [UInt8]
    /// The net changes as a UTF-8 JSON array.
    public let changes: [UInt8]

    /// Describes one version.
    public init(version: UInt64, time: Int64, commandID: String?, event: [UInt8], changes: [UInt8]) {
        self.version = version
        self.time = time
        self.commandID = commandID
        self.event = event
        self.changes = changes
    }

    /// The bytes that `StorageCapabilities.entryBytesMax` limits: event, changes and command id.
    public var byteCount: Int { event.count + changes.count + (commandID?.utf8.count ?? 0) }
}

extension [LogEntry] {
    /// True if the versions are contiguous and begin with the version after `version`.
    package func all(followFrom version: UInt64) -> Bool {
        zip(self, 1...).allSatisfy { entry, offset in entry.version == version &+ offset }
    }
}
