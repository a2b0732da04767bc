// Checks the numbers, the credit and the ends of channels between nodes.

import RivuletCluster
import Testing

@testable import RivuletServer

@Suite struct RelayChannelTests {
    private let edgePeer = ClusterPeer(node: "edge", incarnation: 1)
    private let ownerPeer = ClusterPeer(node: "owner", incarnation: 2)

    private func message(channel: UInt64, _ number: UInt64, taken: UInt64 = 0) -> RelayRequestMessage {
        RelayRequestMessage(channel: channel, target: 2, number: number, taken: taken, asksForLast: false)
    }

    // MARK: - The node with the streams

    @Test func `a channel begins with an owner, and every gap begins another one`() {
        var edge = RelayEdge()
        let early = edge.message()
        #expect(early?.to == nil)
        #expect(edge.follow(ownerPeer) == .begin(channel: 1))
        #expect(edge.follow(ownerPeer) == .nothing)
        #expect(edge.receive(channel: 1, number: 1, isLast: true, [1], from: ownerPeer) == .take(batch: [1]))
        #expect(edge.receive(channel: 1, number: 3, isLast: true, [3], from: ownerPeer) == .begin(channel: 2))
        #expect(edge.receive(channel: 1, number: 4, isLast: true, [4], from: ownerPeer) == .nothing)
        #expect(edge.receive(channel: 2, number: 1, isLast: true, [5], from: ownerPeer) == .take(batch: [5]))
    }

    @Test func `a batch is complete with its last piece, and pieces of a lost one are dropped`() {
        var edge = RelayEdge()
        _ = edge.follow(ownerPeer)
        #expect(edge.receive(channel: 1, number: 1, isLast: false, [1, 2], from: ownerPeer) == .nothing)
        #expect(edge.receive(channel: 1, number: 2, isLast: true, [3], from: ownerPeer) == .take(batch: [1, 2, 3]))
        #expect(edge.receive(channel: 1, number: 3, isLast: false, [4], from: ownerPeer) == .nothing)
        #expect(edge.receive(channel: 1, number: 5, isLast: true, [6], from: ownerPeer) == .begin(channel: 2))
        #expect(edge.receive(channel: 2, number: 1, isLast: true, [7], from: ownerPeer) == .take(batch: [7]))
    }

    @Test func `messages of another run of the owner are ignored`() {
        var edge = RelayEdge()
        _ = edge.follow(ownerPeer)
        let other = ClusterPeer(node: "owner", incarnation: 3)
        #expect(edge.receive(channel: 1, number: 1, isLast: true, [1], from: other) == .nothing)
        #expect(edge.end(channel: 1, from: other) == .nothing)
        #expect(edge.follow(other) == .begin(channel: 2))
        #expect(edge.receive(channel: 2, number: 1, isLast: true, [1], from: other) == .take(batch: [1]))
    }

    @Test func `a loss without a later message shows by the owner's last number`() {
        var edge = RelayEdge()
        _ = edge.follow(ownerPeer)
        #expect(edge.check(channel: 1, last: 0, from: ownerPeer) == .nothing)
        #expect(edge.check(channel: 1, last: 1, from: ownerPeer) == .begin(channel: 2))
    }

    @Test func `an owner that ends each channel gets two of them a tick`() {
        var edge = RelayEdge()
        var begun = 0
        if edge.follow(ownerPeer) != .nothing { begun += 1 }
        for _ in 0..<10 where edge.end(channel: edge.channel, from: ownerPeer) != .nothing { begun += 1 }
        #expect(begun == 2)
        #expect(!edge.isOpen)
        let closed = edge.message()
        #expect(closed?.to == nil)
        #expect(edge.tick() == .begin(channel: 3))
    }

    @Test func `taken bytes are reported after each sixteenth of the credit`() {
        var edge = RelayEdge()
        _ = edge.follow(ownerPeer)
        let share = RelayOwner.creditBytes / 16
        let early = [edge.take(share - 1, of: 1), edge.take(1, of: 1)]
        #expect(early == [false, true])
        guard case .requests(let message) = edge.message()?.message else {
            Issue.record("there is no message")
            return
        }
        #expect(message.taken == UInt64(share))
        let late = [edge.take(1, of: 1), edge.take(share, of: 9)]
        #expect(late == [false, false])
    }

    // MARK: - The owner

    @Test func `a channel begins with its first message, and ends with a gap`() {
        var owner = RelayOwner()
        #expect(owner.receive(message(channel: 1, 2), from: edgePeer) == .refuse)
        #expect(owner.receive(message(channel: 1, 1), from: edgePeer) == .take(slot: 1))
        #expect(owner.receive(message(channel: 1, 2), from: edgePeer) == .take(slot: 1))
        #expect(owner.receive(message(channel: 1, 4), from: edgePeer) == .refuse)
        #expect(owner.takeDropped() == [1])
        #expect(owner.receive(message(channel: 1, 5), from: edgePeer) == .refuse)
        #expect(owner.receive(message(channel: 2, 1), from: edgePeer) == .take(slot: 2))
        #expect(owner.takeDropped() == [])
    }

    @Test func `a later channel or run of a node drops the members of the former one`() {
        var owner = RelayOwner()
        _ = owner.receive(message(channel: 1, 1), from: edgePeer)
        #expect(owner.receive(message(channel: 2, 1), from: edgePeer) == .take(slot: 2))
        let again = ClusterPeer(node: "edge", incarnation: 9)
        #expect(owner.receive(message(channel: 1, 1), from: again) == .take(slot: 3))
        #expect(owner.takeDropped() == [1, 2])
        #expect(owner.receive(message(channel: 2, 2), from: edgePeer) == .refuse)
        #expect(owner.takeDropped() == [])
    }

    @Test func `a batch is split into numbered pieces`() throws {
        var owner = RelayOwner()
        _ = owner.receive(message(channel: 1, 1), from: edgePeer)
        let batch = owner.messages(of: [1, 2, 3, 4, 5], in: 1, pieceBytesMax: 2)
        let (node, messages) = try #require(batch)
        #expect(node == "edge")
        #expect(
            messages == [
                .events(channel: 1, number: 1, isLast: false, [1, 2]),
                .events(channel: 1, number: 2, isLast: false, [3, 4]),
                .events(channel: 1, number: 3, isLast: true, [5]),
            ]
        )
        #expect(owner.last(in: 1)?.message == .last(channel: 1, number: 3))
    }

    @Test func `beyond the credit the channel ends, and the taken bytes give credit back`() {
        var owner = RelayOwner()
        _ = owner.receive(message(channel: 1, 1), from: edgePeer)
        let half = [UInt8](repeating: 1, count: RelayOwner.creditBytes / 2)
        for number in 1...4 {
            let sent = owner.messages(of: half, in: 1, pieceBytesMax: .max)
            #expect(sent?.messages.count == 1)
            if number == 2 {
                let taken = message(channel: 1, 2, taken: UInt64(RelayOwner.creditBytes))
                #expect(owner.receive(taken, from: edgePeer) == .take(slot: 1))
            }
        }
        let refused = owner.messages(of: [1], in: 1, pieceBytesMax: .max)
        #expect(refused?.messages == [.closed(channel: 1)])
        #expect(owner.takeDropped() == [1])
        let late = owner.messages(of: [1], in: 1, pieceBytesMax: .max)
        #expect(late?.messages == nil)
    }

    @Test func `a node that takes more than it was sent has lost its place`() {
        var owner = RelayOwner()
        _ = owner.receive(message(channel: 1, 1), from: edgePeer)
        #expect(owner.receive(message(channel: 1, 2, taken: 1), from: edgePeer) == .refuse)
    }

    @Test func `a silent or gone node is dropped, and a stopping owner begins no channel`() {
        var owner = RelayOwner()
        _ = owner.receive(message(channel: 1, 1), from: edgePeer)
        for _ in 0..<15 { owner.tick() }
        #expect(owner.takeDropped() == [])
        owner.tick()
        #expect(owner.takeDropped() == [1])
        _ = owner.receive(message(channel: 2, 1), from: edgePeer)
        owner.drop(node: "edge", channel: 1)
        #expect(owner.takeDropped() == [])
        owner.drop(node: "edge")
        #expect(owner.takeDropped() == [2])
        _ = owner.receive(message(channel: 3, 1), from: edgePeer)
        let last = owner.end().map(\.message)
        #expect(last == [.closed(channel: 3)])
        #expect(owner.receive(message(channel: 4, 1), from: edgePeer) == .refuse)
    }
}
