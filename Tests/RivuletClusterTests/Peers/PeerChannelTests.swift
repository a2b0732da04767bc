import RivuletCluster
import SeededRandom
import Testing

@Suite struct PeerChannelTests {
    private var near = PeerChannel(from: 1, to: 2, messageBytesMax: 64, limits: Self.limits)
    private var far = PeerChannel(from: 2, to: 1, messageBytesMax: 64, limits: Self.limits)

    private static let limits = PeerChannelLimits(creditBytesMax: 1_024, creditMessagesMax: 64)

    private func payload(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ number) }
    }

    @Test mutating func `payloads of every size arrive in order`() {
        for count in 0..<200 {
            var events: [PeerChannelEvent] = []
            for message in near.send(payload(count, count)) { events += far.receive(message) }
            for case .send(let answer) in events { _ = near.receive(answer) }
            #expect(events.filter { if case .send = $0 { false } else { true } } == [.deliver(payload(count, count))])
        }
        #expect(!near.isCongested)
    }

    @Test mutating func `a lost message is reported by the next one, and later payloads arrive`() {
        _ = near.send([1])
        let events = near.send([2]).flatMap { far.receive($0) }
        #expect(events == [.fellBehind, .deliver([2])])
    }

    @Test mutating func `the loss of a chunk does not deliver a part of a payload`() {
        var messages = near.send(payload(0, 100))
        #expect(messages.count == 3)
        messages.remove(at: 1)
        let events = messages.flatMap { far.receive($0) }
        #expect(events.filter { if case .send = $0 { false } else { true } } == [.fellBehind])
        #expect(near.send([7]).flatMap { far.receive($0) }.first == .deliver([7]))
    }

    @Test mutating func `the loss of the last message is found by a probe`() {
        _ = near.send([1])
        let events = near.tick().flatMap { far.receive($0) }
        #expect(events.first == .fellBehind)
        for case .send(let answer) in events { #expect(near.receive(answer) == []) }
        #expect(near.tick().isEmpty)
    }

    @Test mutating func `payloads beyond the credit are dropped, and the peer is told when it reads again`() {
        var underWay: [[UInt8]] = []
        var sent = 0
        while !near.isCongested {
            underWay += near.send(payload(sent, 100))
            sent += 1
        }
        #expect(near.send([1]).isEmpty)
        var (delivered, behind) = (0, 0)
        while !underWay.isEmpty {
            for event in far.receive(underWay.removeFirst()) {
                switch event {
                case .deliver: delivered += 1
                case .fellBehind: behind += 1
                case .send(let answer):
                    for case .send(let message) in near.receive(answer) { underWay.append(message) }
                }
            }
        }
        #expect((delivered, behind) == (sent - 1, 1))
        #expect(near.send([2]).flatMap { far.receive($0) }.first == .deliver([2]))
    }

    @Test mutating func `a message to an earlier run is dropped`() {
        var earlier = PeerChannel(from: 1, to: 9, messageBytesMax: 64)
        #expect(earlier.send([1]).flatMap { far.receive($0) } == [])
    }

    @Test mutating func `a new connection makes both sides fall behind once`() {
        _ = near.send([1]).flatMap { far.receive($0) }
        #expect(far.connectionDidBreak().first == .fellBehind)
        #expect(near.send([2]).flatMap { far.receive($0) } == [.deliver([2])])
    }

    /// One direction of a channel over a bus that loses messages, with its answers in the other direction.
    private struct LossyPair {
        var channels = [
            PeerChannel(from: 1, to: 2, messageBytesMax: 64, limits: limits),
            PeerChannel(from: 2, to: 1, messageBytesMax: 64, limits: limits),
        ]
        /// The messages under way to each side.
        var underWay: [[[UInt8]]] = [[], []]
        var sent = 0
        var delivered = 0
        var isBehind = false
        /// True if a payload was lost without a report, or delivered in a wrong order.
        var isBroken = false

        mutating func send(byteCount: Int) {
            sent += 1
            underWay[1] += channels[0].send([UInt8](repeating: UInt8(sent), count: byteCount))
        }

        mutating func deliver(to side: Int) {
            for event in channels[side].receive(underWay[side].removeFirst()) {
                switch event {
                case .deliver(let payload):
                    let number = Int(payload[0])
                    isBroken = isBroken || number <= delivered || (number != delivered + 1 && !isBehind)
                    (delivered, isBehind) = (number, false)
                case .fellBehind: isBehind = true
                case .send(let answer): underWay[1 - side].append(answer)
                }
            }
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `under random losses every payload arrives in order, or a report replaces it`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var pair = LossyPair()
        for _ in 0..<400 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where pair.sent < 255: pair.send(byteCount: Int.random(in: 1..<150, using: &random))
            case 1: pair.underWay[1] += pair.channels[0].tick()
            default:
                let side = Int.random(in: 0..<2, using: &random)
                guard !pair.underWay[side].isEmpty else { continue }
                if Int.random(in: 0..<10, using: &random) == 0 {
                    pair.underWay[side].removeFirst()
                } else {
                    pair.deliver(to: side)
                }
            }
        }
        while true {
            if pair.underWay[1].isEmpty { pair.underWay[1] += pair.channels[0].tick() }
            guard let side = pair.underWay.firstIndex(where: { !$0.isEmpty }) else { break }
            pair.deliver(to: side)
        }
        #expect(!pair.isBroken)
        #expect(pair.delivered == pair.sent || pair.isBehind)
    }
}
