import RivuletCluster

/// The channel of a node with streams to the owner of their sources.
///
/// A machine: it takes messages and ticks, and returns the next action. A channel ends with the first gap, and the next
/// channel begins without anything of the former one.
struct RelayEdge {
    /// The next action of its driver.
    enum Action: Hashable, Sendable {
        case nothing
        /// A channel has begun: send its first message, and make all streams ask again.
        case begin(channel: UInt64)
        /// Pass a batch to the loops.
        case take(batch: [UInt8])
    }

    /// The channels that may begin between two ticks, so that an owner that refuses them does not make a storm.
    private static let beginningsPerTickMax = 2
    /// The bytes that are taken between two messages about it: a sixteenth of the owner's credit.
    private static let reportBytesMin = RelayOwner.creditBytes / 16
    /// The most bytes of a batch: what fills it, and one event.
    private static let batchBytesMax = 134_217_728

    /// The owner of the sources; nil if it is this node, or not known yet.
    private(set) var owner: ClusterPeer?
    /// True if this node is the owner.
    private var leads = false
    /// The number of the last channel; later channels have higher numbers.
    private(set) var channel: UInt64 = 0
    /// True if the channel can be used.
    private(set) var isOpen = false
    private var sent: UInt64 = 0
    private var received: UInt64 = 0
    /// The pieces of the batch that is not complete.
    private var pieces: [UInt8] = []
    private var taken: UInt64 = 0
    private var reported: UInt64 = 0
    private var beginningsLeft = beginningsPerTickMax

    /// Records that this node is the owner; false if it was before.
    mutating func lead() -> Bool {
        defer { (leads, owner, isOpen) = (true, nil, false) }
        return !leads
    }

    /// Follows another owner.
    mutating func follow(_ owner: ClusterPeer) -> Action {
        guard owner != self.owner else { return .nothing }
        (self.owner, leads, isOpen) = (owner, false, false)
        beginningsLeft = Self.beginningsPerTickMax
        return begin()
    }

    /// Ends the channel because something was lost; the next one begins now or with a tick.
    mutating func lose() -> Action {
        isOpen = false
        return begin()
    }

    mutating func tick() -> Action {
        beginningsLeft = Self.beginningsPerTickMax
        return isOpen ? .nothing : begin()
    }

    private mutating func begin() -> Action {
        guard owner != nil, beginningsLeft > 0 else { return .nothing }
        beginningsLeft -= 1
        channel += 1
        (isOpen, sent, received, pieces, taken, reported) = (true, 0, 0, [], 0, 0)
        return .begin(channel: channel)
    }

    /// Makes the next message to the owner.
    mutating func message(
        asksForLast: Bool = false,
        loop: Int = 0,
        _ requests: [RelayRequest] = []
    ) -> (to: String, message: RelayMessage)? {
        guard isOpen, let owner else { return nil }
        sent += 1
        reported = taken
        let message = RelayRequestMessage(
            channel: channel,
            target: owner.incarnation,
            number: sent,
            taken: taken,
            asksForLast: asksForLast,
            loop: loop,
            requests: requests
        )
        return (owner.node, .requests(message))
    }

    /// Takes a piece of a batch.
    mutating func receive(
        channel: UInt64,
        number: UInt64,
        isLast: Bool,
        _ piece: ArraySlice<UInt8>,
        from sender: ClusterPeer
    ) -> Action {
        guard isOpen, channel == self.channel, sender == owner else { return .nothing }
        guard number == received + 1, pieces.count + piece.count <= Self.batchBytesMax else { return lose() }
        received = number
        pieces += piece
        guard isLast else { return .nothing }
        defer { pieces = [] }
        return .take(batch: pieces)
    }

    /// Takes the number of the owner's last message.
    mutating func check(channel: UInt64, last: UInt64, from sender: ClusterPeer) -> Action {
        guard isOpen, channel == self.channel, sender == owner, last != received else { return .nothing }
        return lose()
    }

    /// Takes the end of the channel by the owner.
    mutating func end(channel: UInt64, from sender: ClusterPeer) -> Action {
        guard isOpen, channel == self.channel, sender == owner else { return .nothing }
        return lose()
    }

    /// Records that the loops have taken bytes of a channel; true if the owner is to be told.
    mutating func take(_ bytes: Int, of channel: UInt64) -> Bool {
        guard isOpen, channel == self.channel else { return false }
        taken += UInt64(bytes)
        return taken - reported >= UInt64(Self.reportBytesMin)
    }
}
