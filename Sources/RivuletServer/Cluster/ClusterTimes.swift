/// The times of requests that need another node of a cluster, in milliseconds.
package struct ClusterTimes: Sendable {
    /// The longest time for which a request waits for an owner.
    package var waitMax: UInt64 = 2_000
    /// The longest time for which a sent request waits for its answer.
    package var answerMax: UInt64 = 15_000
    /// The time after which a request that changes nothing is sent again.
    package var silenceMax: UInt64 = 3_000
    /// The longest further time for the answer of a node that is the owner no more, or has lost messages.
    package var graceMax: UInt64 = 500
    /// The longest time for the answer to a question about a ticket.
    package var ticketMax: UInt64 = 1_000

    package init() {}
}
