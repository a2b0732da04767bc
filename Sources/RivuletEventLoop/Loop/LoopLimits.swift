/// The limits of one loop.
package struct LoopLimits: Hashable, Sendable {
    /// The maximum number of open connections; further ones are accepted, closed at once, and reported to the delegate.
    package var connectionsMax = 100_000
    /// The maximum number of unsent bytes of one connection; beyond it, the connection is closed with the reason
    /// `unsentLimit`.
    package var unsentBytesMax = 67_108_864
    /// The maximum number of bytes of one connection that are passed to the kernel at once; the rest waits for its next
    /// turn.
    package var bytesPerWriteMax = 65_536
    /// The approximate number of bytes that are written in one turn: half of them directly, half of them from queues.
    ///
    /// This is some milliseconds of copying. A part for which the kernel had no room is written as soon as there is
    /// room, even if the turn's bytes are used up. Its bytes are subtracted afterwards.
    package var bytesPerTurnMax = 4_194_304
    /// The maximum number of connections that are read in one turn; the others wait for the next turns, in the order of
    /// their arrival.
    ///
    /// libuv alone would read 49,152 connections before it returns.
    package var readsPerTurnMax = 512
    /// The maximum number of connections that one listener accepts in one turn; the others wait for the next turn.
    package var acceptsPerTurnMax = 64
    /// The maximum number of posted jobs that have not run; `post` refuses more.
    package var postedJobsMax = 1_048_576
    /// The maximum number of bytes that a peer may send while its connection is being closed; beyond it, the connection
    /// is closed at once.
    package var lingerBytesMax = 8_388_608
    /// The time in which a peer that has received everything must end its side; after it, the connection is closed.
    package var lingerTime = Duration.seconds(2)
    /// The pause of a listener after a failed accept, when descriptors or memory are exhausted.
    package var acceptPause = Duration.milliseconds(100)

    /// Makes the default limits.
    package init() {}
}
