/// One durable version of a session: the event that made it, and its changes.
public struct LogEntry: Hashable, Sendable {
    /// The version that this entry makes; dense within an epoch, from 1.
    public let version: UInt64
    /// The time at which the event was accepted, in milliseconds since 1970-01-01T00:00:00Z.
    public let time: Int64
    /// The command id and the caller; nil if the entry has neither.
    ///
    /// They are in one object, because entries are copied often, and most entries have neither.
    private let sender: EntrySender?
    /// The event as UTF-8 JSON.
    public let event: [UInt8]
    /// The net changes as a UTF-8 JSON array.
    public let changes: [UInt8]

    /// Describes one version.
    public init(
        version: UInt64,
        time: Int64,
        commandID: String?,
        by: String? = nil,
        event: [UInt8],
        changes: [UInt8]
    ) {
        self.version = version
        self.time = time
        // An initializer that fails would allocate the object first.
        sender = commandID == nil && by == nil ? nil : EntrySender(commandID: commandID, by: by)
        self.event = event
        self.changes = changes
    }

    /// Describes one version; several entries may share one `sender`.
    package init(version: UInt64, time: Int64, sender: EntrySender?, event: [UInt8], changes: [UInt8]) {
        (self.version, self.time, self.sender, self.event, self.changes) = (version, time, sender, event, changes)
    }

    /// The client's idempotency key, if it sent one.
    ///
    /// It serves human readers of the log only. Exact retries use `IdempotencyRecord`.
    public var commandID: String? { sender?.commandID }

    /// The caller that dispatched the event, as `Caller.me` names it.
    ///
    /// It is nil for events of the app itself, for anonymous callers, and on a server that asks for no credentials.
    public var by: String? { sender?.by }

    /// The bytes that `StorageCapabilities.entryBytesMax` limits: event, changes, command id and caller.
    public var byteCount: Int { event.count + changes.count + (sender?.byteCount ?? 0) }
}

/// The command id and the caller of entries.
package final class EntrySender: Hashable, Sendable {
    let commandID: String?
    let by: String?
    /// The bytes of both.
    let byteCount: Int

    package init(commandID: String?, by: String?) {
        (self.commandID, self.by) = (commandID, by)
        byteCount = (commandID?.utf8.count ?? 0) + (by?.utf8.count ?? 0)
    }

    package static func == (one: EntrySender, other: EntrySender) -> Bool {
        one === other || (one.commandID == other.commandID && one.by == other.by)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(commandID)
        hasher.combine(by)
    }
}

extension [LogEntry] {
    /// True if the versions are contiguous and begin with the version after `version`.
    package func all(followFrom version: UInt64) -> Bool {
        zip(self, 1...).allSatisfy { entry, offset in entry.version == version &+ offset }
    }
}
