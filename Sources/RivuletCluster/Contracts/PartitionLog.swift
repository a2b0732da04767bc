/// The replicated logs of a cluster: ordered messages, each written under the condition that it follows a known one.
///
/// It is used on one executor, and replies there, exactly once for each call and after the call has returned.
package protocol PartitionLog: AnyObject {
    /// True if a committed message survives a power cut of a minority of the log's servers.
    var survivesPowerLoss: Bool { get }

    /// Writes a message behind the message at `position`, which must be the partition's last.
    func append(
        _ message: [UInt8],
        to partition: Partition,
        after position: LogPosition,
        reply: @escaping (LogAppendOutcome) -> Void
    )

    /// Reads messages behind `position`, oldest first and without a gap: at least one, unless there is none.
    func read(
        _ partition: Partition,
        after position: LogPosition,
        reply: @escaping (Result<[LoggedMessage], LogError>) -> Void
    )

    /// Delivers the partition's messages as they are written, from now on.
    ///
    /// Messages may be missing, and may come again. The receiver finds gaps by `previous`, and reads what is missing.
    /// The second closure is called when messages may have been missed without a successor that would show it.
    func follow(
        _ partition: Partition,
        deliver: @escaping (LoggedMessage) -> Void,
        mayHaveMissed: @escaping () -> Void
    )

    /// Reads the places of the partition's first and last message; both are `.start` in an empty log.
    ///
    /// The answer is not older than any append that was answered before the call: a node with a copy ahead of
    /// it halts.
    func ends(of partition: Partition, reply: @escaping (Result<LogEnds, LogError>) -> Void)

    /// Removes the messages before `position`; the partition's last message is never removed.
    func cut(_ partition: Partition, before position: LogPosition, reply: @escaping (Result<Void, LogError>) -> Void)

    /// Stores a base: a copy of the partition's content at one position, from which a node begins.
    ///
    /// An earlier base is replaced, when this one is complete and its position is later.
    func put(_ base: PartitionBase, of partition: Partition, reply: @escaping (Result<Void, LogError>) -> Void)

    /// Reads the newest complete base; nil if there is none.
    func base(of partition: Partition, reply: @escaping (Result<PartitionBase?, LogError>) -> Void)
}

/// The outcome of an append.
package enum LogAppendOutcome: Hashable, Sendable {
    /// A quorum has the message on disk.
    case committed(LogPosition)
    /// The message was not written, because the partition ends at another message.
    case moved(last: LogPosition)
    /// The message was not written, for another reason.
    case refused(LogError)
    /// The message may have been written, and may still be.
    case unknown
}

/// The first and the last message of a partition.
package struct LogEnds: Hashable, Sendable {
    package let first: LogPosition
    package let last: LogPosition

    package init(first: LogPosition, last: LogPosition) { (self.first, self.last) = (first, last) }
}

/// A copy of a partition's content.
package struct PartitionBase: Hashable, Sendable {
    /// The place of the last message that it includes.
    package let position: LogPosition
    /// The frames, as `FrameCodec` writes them, which make the content in an empty replica.
    package let frames: [[UInt8]]

    package init(position: LogPosition, frames: [[UInt8]]) { (self.position, self.frames) = (position, frames) }
}

/// The reason that a log did not do its work.
package enum LogError: Error, Hashable, Sendable {
    /// The log cannot be reached, or has no leader now; the same call may succeed later.
    case unavailable(detail: String)
    /// The log has no space.
    case full(detail: String)
    /// The message is larger than this number of bytes.
    case tooLarge(limitBytes: Int)
    /// The log is missing, or has a setting under which it would lose messages; the text names the remedy.
    case incompatible(detail: String)
    /// The log has lost messages that this node needs; the text names the remedy.
    case lost(detail: String)
}
