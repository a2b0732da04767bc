import RivuletCluster

/// The channels of the nodes that have streams with sources on this node.
///
/// A machine: it takes messages and ticks, and returns the next action.
struct RelayOwner {
    /// The bytes that a node may have on their way.
    static let creditBytes = 4_194_304
    /// The ticks without a message after which a node is dropped.
    private static let silentTicksMax = 15
    /// The most channels; further nodes are refused.
    private static let linksMax = 1_024

    /// A channel.
    private struct Link {
        let peer: ClusterPeer
        let channel: UInt64
        var received: UInt64 = 0
        var sent: UInt64 = 0
        var sentBytes: UInt64 = 0
        var takenBytes: UInt64 = 0
        var silentTicks = 0
    }

    /// The next action after a message of requests.
    enum Arrival: Hashable, Sendable {
        /// Perform the requests for the node in the slot.
        case take(slot: Int)
        /// Answer that the channel has ended.
        case refuse
    }

    private var links: [Int: Link] = [:]
    /// The slots by the names of their nodes.
    private var slots: [String: Int] = [:]
    /// The slot that was given last.
    ///
    /// No slot is given twice, so that nothing of a former channel reaches a later one.
    private var lastSlot = 0
    /// The slots with members to drop.
    private var dropped: [Int] = []
    /// True if no channel begins any more, because the server stops.
    private var hasEnded = false

    /// Returns the slots that have ended since the last call; the sources drop the members of their loops.
    mutating func takeDropped() -> [Int] {
        defer { dropped = [] }
        return dropped
    }

    /// Takes a message of requests.
    mutating func receive(_ message: RelayRequestMessage, from sender: ClusterPeer) -> Arrival {
        if message.number == 1, isNewer(message, sender) { begin(message.channel, sender) }
        guard let slot = slots[sender.node], var link = links[slot], link.peer == sender,
            link.channel == message.channel
        else { return .refuse }
        guard message.number == link.received + 1, message.taken <= link.sentBytes else {
            drop(slot)
            return .refuse
        }
        link.received = message.number
        link.takenBytes = max(link.takenBytes, message.taken)
        link.silentTicks = 0
        links[slot] = link
        return .take(slot: slot)
    }

    private func isNewer(_ message: RelayRequestMessage, _ sender: ClusterPeer) -> Bool {
        guard let link = slots[sender.node].flatMap({ links[$0] }) else { return true }
        return sender != link.peer || message.channel > link.channel
    }

    private mutating func begin(_ channel: UInt64, _ peer: ClusterPeer) {
        if let slot = slots[peer.node] { drop(slot) }
        guard !hasEnded, links.count < Self.linksMax else { return }
        lastSlot += 1
        slots[peer.node] = lastSlot
        links[lastSlot] = Link(peer: peer, channel: channel)
    }

    /// The number of the last message in a slot's channel, as a message to its node.
    func last(in slot: Int) -> (to: String, message: RelayMessage)? {
        links[slot].map { ($0.peer.node, .last(channel: $0.channel, number: $0.sent)) }
    }

    /// The slots of all channels.
    var all: [Int] { Array(links.keys) }

    /// Makes the messages of a batch.
    ///
    /// If the node has more bytes on their way than its credit, the channel ends instead: the message says so. The
    /// answer is nil if the channel has ended before.
    mutating func messages(
        of batch: [UInt8],
        in slot: Int,
        pieceBytesMax: Int
    ) -> (to: String, messages: [RelayMessage])? {
        guard var link = links[slot] else { return nil }
        guard link.sentBytes - link.takenBytes < UInt64(Self.creditBytes) else {
            drop(slot)
            return (link.peer.node, [.closed(channel: link.channel)])
        }
        var messages: [RelayMessage] = []
        var rest = batch[...]
        while !rest.isEmpty {
            let piece = rest.prefix(pieceBytesMax)
            rest = rest.dropFirst(pieceBytesMax)
            link.sent += 1
            messages.append(.events(channel: link.channel, number: link.sent, isLast: rest.isEmpty, piece))
        }
        link.sentBytes += UInt64(batch.count)
        links[slot] = link
        return (link.peer.node, messages)
    }

    /// Drops the nodes that have been silent for long.
    mutating func tick() {
        for slot in links.keys {
            links[slot]?.silentTicks += 1
            if let ticks = links[slot]?.silentTicks, ticks > Self.silentTicksMax { drop(slot) }
        }
    }

    /// Drops a node's channel; if `channel` is nil, whichever it is.
    mutating func drop(node: String, channel: UInt64? = nil) {
        guard let slot = slots[node], channel == nil || links[slot]?.channel == channel else { return }
        drop(slot)
    }

    /// Ends all channels, and begins no more; returns the messages that say so.
    mutating func end() -> [(to: String, message: RelayMessage)] {
        hasEnded = true
        let messages = links.values.map { ($0.peer.node, RelayMessage.closed(channel: $0.channel)) }
        for slot in all { drop(slot) }
        return messages
    }

    private mutating func drop(_ slot: Int) {
        guard let link = links.removeValue(forKey: slot) else { return }
        slots[link.peer.node] = nil
        dropped.append(slot)
    }
}

/// The index of a loop of another node: the slot of the node's channel, and the loop's index there.
enum RemoteLoop {
    /// Indexes below this are of loops of this server.
    static let indexMin = 1 << slotShift
    private static let slotShift = 16

    static func index(slot: Int, loop: Int) -> Int { slot << slotShift | loop }

    static func slot(of index: Int) -> Int { index >> slotShift }

    static func loop(of index: Int) -> Int { index & (indexMin - 1) }
}
