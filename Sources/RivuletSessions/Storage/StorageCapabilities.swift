/// What a storage engine promises; constant for the life of the engine.
public struct StorageCapabilities: Hashable, Sendable {
    /// The engine's name for logs and health answers: "memory", "sqlite".
    public let name: String
    /// Whether other processes may write to the same sessions; conflicts are then ordinary.
    public let isShared: Bool
    /// The largest `LogEntry.byteCount` that can be stored, in bytes.
    public let entryBytesMax: Int
    /// The largest `StateSnapshot.state` that can be stored, in bytes before any compression.
    public let snapshotBytesMax: Int
    /// Whether a committed append is still there after a power cut.
    public let survivesPowerLoss: Bool

    /// Describes an engine.
    public init(name: String, isShared: Bool, entryBytesMax: Int, snapshotBytesMax: Int, survivesPowerLoss: Bool) {
        self.name = name
        self.isShared = isShared
        self.entryBytesMax = entryBytesMax
        self.snapshotBytesMax = snapshotBytesMax
        self.survivesPowerLoss = survivesPowerLoss
    }
}
