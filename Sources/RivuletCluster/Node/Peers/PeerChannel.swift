import DequeModule

/// Ordered messages between one run of a node and one run of another, over a bus that may lose messages.
///
/// It carries payloads in both directions. A lost message is found, and reported as `.fellBehind`: nothing is sent
/// again, so the receiver asks its peer for everything from what it has. The same happens when the peer reads too
/// slowly, because a sender drops payloads beyond its credit.
///
/// Call `tick()` about once a second, `receive(_:)` for each message of the peer, and `connectionDidBreak()` when the
/// bus may have lost messages. Send the messages that they return, in order.
package struct PeerChannel: Sendable {
    private var outgoing: OutgoingChannel
    private var incoming: IncomingChannel
    private let own: UInt64
    private let peer: UInt64

    /// Begins a channel between two runs.
    ///
    /// `messageBytesMax` is the most bytes of a message that the bus takes from the caller.
    package init(from own: UInt64, to peer: UInt64, messageBytesMax: Int, limits: PeerChannelLimits = .standard) {
        precondition(messageBytesMax > PeerMessage.headerBytes, "a bus of \(messageBytesMax) bytes carries no payload")
        (self.own, self.peer) = (own, peer)
        outgoing = OutgoingChannel(chunkBytesMax: messageBytesMax - PeerMessage.headerBytes, limits: limits)
        incoming = IncomingChannel(limits: limits)
    }

    /// Returns the messages that carry a payload; empty if the peer has no credit left.
    ///
    /// The peer is then told that it fell behind, as soon as it has credit again.
    package mutating func send(_ payload: [UInt8]) -> [[UInt8]] {
        outgoing.send(payload).map(encoded)
    }

    /// Takes a message of the peer; messages of other runs are dropped.
    package mutating func receive(_ message: [UInt8]) -> [PeerChannelEvent] {
        guard let message = PeerMessage(message), message.sender == peer, message.receiver == own else { return [] }
        switch message.kind {
        case .acknowledgement:
            return outgoing.acknowledged(upTo: message.number).map { .send(encoded($0)) }
        case .chunk, .lastChunk, .gap, .probe:
            return incoming.receive(message).map { event in
                switch event {
                case .deliver(let payload): .deliver(payload)
                case .fellBehind: .fellBehind
                case .acknowledge(let number): .send(encoded(PeerMessage.Part(kind: .acknowledgement, number: number)))
                }
            }
        }
    }

    /// Returns messages that find the loss of the last message, or of its acknowledgement.
    package mutating func tick() -> [[UInt8]] { outgoing.probe().map(encoded) }

    /// Counts everything that was under way as lost; the next message tells the peer, too.
    package mutating func connectionDidBreak() -> [PeerChannelEvent] {
        incoming.reset()
        return [.fellBehind] + outgoing.reset().map { .send(encoded($0)) }
    }

    /// True if payloads were dropped, and the peer was not told yet.
    package var isCongested: Bool { outgoing.hasDropped }

    private func encoded(_ part: PeerMessage.Part) -> [UInt8] {
        PeerMessage.encode(part, from: own, to: peer)
    }
}

/// A result of a message of the peer.
package enum PeerChannelEvent: Hashable, Sendable {
    /// The next payload.
    case deliver([UInt8])
    /// Payloads before this point were lost.
    case fellBehind
    /// A message to send to the peer.
    case send([UInt8])
}

/// The limits of a channel in each direction.
package struct PeerChannelLimits: Sendable {
    /// The most bytes of messages that are under way, which is also the most bytes of a payload.
    package var creditBytesMax: Int
    /// The most messages that are under way.
    package var creditMessagesMax: Int

    package init(creditBytesMax: Int, creditMessagesMax: Int) {
        (self.creditBytesMax, self.creditMessagesMax) = (creditBytesMax, creditMessagesMax)
    }

    /// 4 MiB in at most 8,192 messages.
    package static let standard = PeerChannelLimits(creditBytesMax: 4 << 20, creditMessagesMax: 8_192)
}

/// The sending half of a channel.
struct OutgoingChannel {
    private let chunkBytesMax: Int
    private let limits: PeerChannelLimits
    /// The sizes of the messages under way, oldest first.
    private var unacknowledged: Deque<Int> = []
    private var unacknowledgedBytes = 0
    /// The number of the last message.
    private var number: UInt64 = 0
    /// True if a payload was dropped after the last message.
    private(set) var hasDropped = false

    init(chunkBytesMax: Int, limits: PeerChannelLimits) {
        (self.chunkBytesMax, self.limits) = (chunkBytesMax, limits)
    }

    mutating func send(_ payload: [UInt8]) -> [PeerMessage.Part] {
        let chunks = max(1, (payload.count + chunkBytesMax - 1) / chunkBytesMax)
        let bytes = payload.count + chunks * PeerMessage.headerBytes
        guard
            !hasDropped, unacknowledgedBytes + bytes <= limits.creditBytesMax,
            unacknowledged.count + chunks <= limits.creditMessagesMax
        else {
            hasDropped = true
            return gapIfPossible()
        }
        return (0..<chunks).map { index in
            let bytes = payload[(index * chunkBytesMax)..<min(payload.count, (index + 1) * chunkBytesMax)]
            return next(index == chunks - 1 ? .lastChunk : .chunk, offset: index * chunkBytesMax, bytes)
        }
    }

    /// Removes the messages up to this one from those under way.
    mutating func acknowledged(upTo last: UInt64) -> [PeerMessage.Part] {
        let first = number - UInt64(unacknowledged.count) + 1
        guard last <= number, last >= first else { return [] }
        for _ in first...last { unacknowledgedBytes -= unacknowledged.popFirst() ?? 0 }
        return gapIfPossible()
    }

    mutating func probe() -> [PeerMessage.Part] {
        guard unacknowledged.isEmpty else { return [PeerMessage.Part(kind: .probe, number: number)] }
        return gapIfPossible()
    }

    mutating func reset() -> [PeerMessage.Part] {
        unacknowledged = []
        unacknowledgedBytes = 0
        hasDropped = true
        return gapIfPossible()
    }

    /// Tells the peer of dropped payloads when half of the credit is free, so that its answer does not fill it again.
    private mutating func gapIfPossible() -> [PeerMessage.Part] {
        guard
            hasDropped, unacknowledgedBytes <= limits.creditBytesMax / 2,
            unacknowledged.count <= limits.creditMessagesMax / 2
        else { return [] }
        hasDropped = false
        return [next(.gap, offset: 0, [])]
    }

    private mutating func next(_ kind: PeerMessage.Kind, offset: Int, _ bytes: ArraySlice<UInt8>) -> PeerMessage.Part {
        number += 1
        unacknowledged.append(bytes.count + PeerMessage.headerBytes)
        unacknowledgedBytes += bytes.count + PeerMessage.headerBytes
        return PeerMessage.Part(kind: kind, number: number, offset: UInt32(offset), bytes: bytes)
    }
}

/// The receiving half of a channel.
struct IncomingChannel {
    enum Event {
        case deliver([UInt8])
        case fellBehind
        case acknowledge(UInt64)
    }

    private let limits: PeerChannelLimits
    /// The number of the last message; nil before the first one of a channel that has begun without it.
    private var number: UInt64? = 0
    /// The chunks so far of a payload; nil while the rest of a damaged one passes.
    private var payload: [UInt8]? = []
    private var unreportedBytes = 0
    private var unreportedMessages = 0

    init(limits: PeerChannelLimits) { self.limits = limits }

    mutating func receive(_ message: PeerMessage) -> [Event] {
        var events: [Event] = []
        let isProbe = message.kind == .probe
        let expected = number.map { isProbe ? $0 : $0 &+ 1 }
        if let expected, message.number != expected {
            events.append(.fellBehind)
            payload = nil
        }
        number = message.number
        unreportedBytes += message.bytes.count + PeerMessage.headerBytes
        unreportedMessages += 1
        switch message.kind {
        case .chunk, .lastChunk: events += take(message)
        case .gap:
            events.append(.fellBehind)
            payload = []
        case .probe, .acknowledgement: break
        }
        // A sender waits for acknowledgements only when half of its credit is used.
        if isProbe || message.kind == .gap || unreportedBytes > limits.creditBytesMax / 8
            || unreportedMessages > limits.creditMessagesMax / 8
        {
            (unreportedBytes, unreportedMessages) = (0, 0)
            events.append(.acknowledge(message.number))
        }
        return events
    }

    private mutating func take(_ message: PeerMessage) -> [Event] {
        if message.offset == 0 { payload = [] }
        guard var bytes = payload, bytes.count == Int(message.offset) else {
            payload = nil
            return []
        }
        payload = nil
        bytes += message.bytes
        guard bytes.count <= limits.creditBytesMax else { return [.fellBehind] }
        guard message.kind == .lastChunk else {
            payload = bytes
            return []
        }
        payload = []
        return [.deliver(bytes)]
    }

    mutating func reset() {
        number = nil
        payload = nil
    }
}
