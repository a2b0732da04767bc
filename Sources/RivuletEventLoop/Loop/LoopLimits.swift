/// The limits of one loop.
package struct LoopLimits: Hashable, Sendable {
    /// Open connections; more are accepted and closed at once, and reported to the delegate.
    package var connectionsMax = 100_000
    /// Bytes queued on one connection; it is closed beyond, with the reason `unsentLimit`.
    package var unsentBytesMax = 67_108_864
    /// Bytes that one connection gives the kernel at once; the rest waits for its next turn.
    package var bytesPerWriteMax = 65_536
    /// Bytes that are written in one turn, about: half of them directly, half of them from queues.
    ///
    /// Some milliseconds of copying. A part for which the kernel had no room is written as soon as it has, and counts afterwards.
    package var bytesPerTurnMax = 4_194_304
    /// Connections accepted of one listener in one turn; the others wait for the next turn.
    package var acceptsPerTurnMax = 64
    /// Jobs posted and not yet run; `post` refuses more.
    package var postedJobsMax = 1_048_576
    /// Bytes that a peer may still send while its connection is being closed; it is cut off beyond.
    package var lingerBytesMax = 8_388_608
    /// How long a peer that has got everything may take to end its side; it is cut off beyond.
    package var lingerTime = Duration.seconds(2)
    /// How long a listener rests after it failed to accept, for want of descriptors or memory.
    package var acceptPause = Duration.milliseconds(100)

    /// The defaults.
    package init() {}
}
