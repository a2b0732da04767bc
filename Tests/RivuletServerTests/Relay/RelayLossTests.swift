// Checks streams after the loss of messages, and after their source has moved to another node.

import CounterFixture
import RivuletEngine
import RivuletSessions
import Synchronization
import Testing

@testable import RivuletServer

@Suite(.timeLimit(.minutes(1))) final class RelayLossTests {
    private let cluster = ModelCluster()
    private let nodes: [RelayNode]
    private var crashed: Set<String> = []

    init() throws {
        let engine = MemoryStorageEngine()
        nodes = try ["a", "b", "c"].map { [cluster] name in
            try RelayNode(name, in: cluster, engine, host: { try $0.host(TallyApp()) })
        }
        cluster.setOwner("a")
    }

    deinit { for node in nodes where !crashed.contains(node.name) { node.stop() } }

    private var owner: RelayNode { nodes[0] }
    private var edge: RelayNode { nodes[1] }

    private static let count = "sessions/s/changes?path=/p/count"

    private func crash(_ node: RelayNode) {
        crashed.insert(node.name)
        node.crash()
    }

    private func change(_ version: Int, _ count: Int) -> String {
        #"change {"version":\#(version),"changes":[{"op":"replace","path":"/p/count","value":\#(count)}]}"#
    }

    /// A plain stream and one that got all versions since the first, both at version 1.
    private func openBoth(on node: RelayNode) async throws -> (merged: RelayClient, all: RelayClient) {
        await owner.dispatch(#"{"add":1}"#)
        let merged = node.open(Self.count)
        await merged.wait(for: "event: snapshot")
        let id = try #require(merged.text.split(separator: "id: ").dropFirst().first?.prefix { $0 != "\n" })
        let all = node.open("\(Self.count)&resume=all", fields: "Last-Event-ID: \(id)\r\n")
        await all.wait(for: "retry: ")
        return (merged, all)
    }

    /// Loses the next messages of events.
    private func loseEvents(_ count: Int) {
        let box = Box(left: count)
        cluster.lose { kind, _, _ in kind == 2 && box.take() }
    }

    private final class Box: Sendable {
        private let left: Mutex<Int>
        init(left: Int) { self.left = Mutex(left) }
        func take() -> Bool {
            left.withLock { left in
                left -= 1
                return left >= 0
            }
        }
    }

    // MARK: - Loss

    @Test func `a lost event becomes one merged change, or each version once`() async throws {
        let (merged, all) = try await openBoth(on: edge)
        loseEvents(.max)
        for _ in 0..<3 { await owner.dispatch(#"{"add":1}"#) }
        loseEvents(0)
        edge.member.loseConnection()
        await merged.wait(for: "\"value\":4")
        await all.wait(for: "\"value\":4")
        #expect(merged.events.dropFirst() == [change(4, 4)])
        #expect(all.events == [change(2, 2), change(3, 3), change(4, 4)])
        await owner.dispatch(#"{"add":1}"#)
        await merged.wait(for: "\"value\":5")
        await all.wait(for: "\"value\":5")
        #expect(merged.events.last == change(5, 5))
        #expect(all.events.count == 4)
    }

    @Test func `a lost last event is found when the connection was interrupted`() async throws {
        let (merged, all) = try await openBoth(on: edge)
        loseEvents(1)
        await owner.dispatch(#"{"add":1}"#)
        edge.member.loseConnection()
        await merged.wait(for: "\"value\":2")
        await all.wait(for: "\"value\":2")
        #expect(merged.events.dropFirst() == [change(2, 2)])
        #expect(all.events == [change(2, 2)])
    }

    @Test func `a lost last event is found by the owner's number of the next second`() async throws {
        let (merged, _) = try await openBoth(on: edge)
        loseEvents(1)
        await owner.dispatch(#"{"add":1}"#)
        await merged.wait(for: "\"value\":2")
        #expect(merged.events.dropFirst() == [change(2, 2)])
    }

    @Test func `an interruption without a loss changes nothing`() async throws {
        let (merged, _) = try await openBoth(on: edge)
        let asked = cluster.count(3, to: "b")
        for _ in 0..<3 {
            edge.member.loseConnection()
            owner.member.loseConnection()
        }
        await owner.dispatch(#"{"add":1}"#)
        await merged.wait(for: "\"value\":2")
        #expect(merged.events.count == 2)
        #expect(cluster.count(3, to: "b") == asked)
    }

    @Test func `a lost request is made again`() async {
        let box = Box(left: 1)
        await owner.dispatch(#"{"add":1}"#)
        let first = edge.open(Self.count)
        await first.wait(for: "event: snapshot")
        cluster.lose { kind, _, _ in kind == 1 && box.take() }
        let second = edge.open("sessions/s/changes?path=/p/title")
        await second.wait(for: "event: snapshot")
        #expect(second.names == ["snapshot"])
        await owner.dispatch(#"[{"add":1},{"rename":"b"}]"#)
        await first.wait(for: "event: change")
        await second.wait(for: "event: change")
        #expect(first.names == ["snapshot", "change"])
        #expect(second.names == ["snapshot", "change"])
    }

    @Test func `random losses lose, double and reorder no version`() async throws {
        let (merged, all) = try await openBoth(on: edge)
        let plain = nodes[2].open(Self.count)
        await plain.wait(for: "event: snapshot")
        let seed = Seed(numbers: 1)
        cluster.lose { _, _, _ in seed.next() % 4 == 0 }
        for _ in 0..<60 { await owner.dispatch(#"{"add":1}"#) }
        cluster.lose { _, _, _ in false }
        for stream in [merged, all, plain] { await stream.wait(for: "\"value\":61") }
        #expect(all.events == (2...61).map { change($0, $0) })
        for stream in [merged, plain] {
            let values = stream.events.dropFirst().compactMap { event in
                event.split(separator: "\"value\":").last.flatMap { Int($0.prefix { $0.isNumber }) }
            }
            #expect(zip(values, values.dropFirst()).allSatisfy { $0 < $1 })
            #expect(values.last == 61)
            #expect(Set(stream.names.dropFirst()) == ["change"])
        }
    }

    private final class Seed: Sendable {
        private let state: Mutex<UInt64>
        init(numbers seed: UInt64) { state = Mutex(seed) }
        func next() -> UInt64 {
            state.withLock { state in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return state >> 33
            }
        }
    }

    // MARK: - Another owner

    @Test func `streams stay open when the owner dies, without a reset and without a version twice`() async throws {
        let (merged, all) = try await openBoth(on: edge)
        let compressed = edge.open(Self.count, fields: "Accept-Encoding: gzip\r\n")
        await compressed.wait(for: "Content-Encoding: gzip")
        await owner.dispatch(#"{"add":1}"#)
        for stream in [merged, all] { await stream.wait(for: "\"value\":2") }
        crash(owner)
        cluster.setOwner(nil)
        cluster.setOwner("c")
        for _ in 0..<2 { await nodes[2].dispatch(#"{"add":1}"#) }
        for stream in [merged, all] { await stream.wait(for: "\"value\":4") }
        #expect(all.events == [change(2, 2), change(3, 3), change(4, 4)])
        #expect(Set(merged.names) == ["snapshot", "change"])
        #expect(merged.events.last == change(4, 4))
        #expect(!merged.isEnded && !all.isEnded && !compressed.isEnded)
    }

    @Test func `events that the dead owner committed and did not send come from the next owner`() async throws {
        let (merged, all) = try await openBoth(on: edge)
        cluster.lose { kind, _, _ in kind == 2 }
        for _ in 0..<3 { await owner.dispatch(#"{"add":1}"#) }
        crash(owner)
        cluster.lose { _, _, _ in false }
        cluster.setOwner("c")
        await merged.wait(for: "\"value\":4")
        await all.wait(for: "\"value\":4")
        #expect(merged.events.dropFirst() == [change(4, 4)])
        #expect(all.events == [change(2, 2), change(3, 3), change(4, 4)])
    }

    @Test func `streams of the node that becomes the owner continue from its own sources`() async throws {
        let (merged, all) = try await openBoth(on: edge)
        let far = nodes[2].open(Self.count)
        await far.wait(for: "event: snapshot")
        crash(owner)
        cluster.setOwner("b")
        await edge.dispatch(#"{"add":1}"#)
        for stream in [merged, all, far] { await stream.wait(for: "\"value\":2") }
        #expect(merged.events.dropFirst() == [change(2, 2)])
        #expect(all.events == [change(2, 2)])
        #expect(far.events.dropFirst() == [change(2, 2)])
        await edge.dispatch(#"{"add":1}"#)
        for stream in [merged, all, far] { await stream.wait(for: "\"value\":3") }
        #expect(all.events == [change(2, 2), change(3, 3)])
    }

    @Test func `a new stream waits for an owner`() async throws {
        let engine = MemoryStorageEngine()
        let cluster = ModelCluster()
        let node = try RelayNode("z", in: cluster, engine, host: { try $0.host(TallyApp()) })
        let stream = node.open(Self.count)
        _ = await node.run { _ in }
        #expect(stream.text.isEmpty)
        cluster.setOwner("z")
        await stream.wait(for: "event: snapshot")
        node.stop()
    }

    @Test func `the members of a dead node are dropped`() async throws {
        let stream = edge.open(Self.count)
        await stream.wait(for: "event: snapshot")
        crash(edge)
        cluster.report(gone: ["b"])
        await withCheckedContinuation { continuation in cluster.run { continuation.resume() } }
        #expect(await owner.run { $0.shard.isQuiet })
        let sent = cluster.count(2, to: "b")
        await owner.dispatch(#"{"add":1}"#)
        #expect(cluster.count(2, to: "b") == sent)
    }

    @Test func `a large snapshot is sent in pieces, and too slow a node falls behind`() async throws {
        let engine = MemoryStorageEngine()
        let cluster = ModelCluster()
        let owner = try RelayNode("x", in: cluster, engine, host: { try $0.host(TallyApp()) }, messageBytesMax: 4_096)
        let edge = try RelayNode("y", in: cluster, engine, host: { try $0.host(TallyApp()) }, messageBytesMax: 4_096)
        cluster.setOwner("x")
        let long = String(repeating: "x", count: 200_000)
        await owner.dispatch(#"{"rename":"\#(long)"}"#)
        let stream = edge.open("sessions/s/changes?path=/p/title")
        await stream.wait(for: "event: snapshot")
        #expect(stream.events[0].contains(long))
        // No message of the edge arrives, so that the credit is used up.
        cluster.lose { kind, sender, _ in sender == "y" && kind == 1 }
        for number in 1...30 { await owner.dispatch(#"{"rename":"\#(long)\#(number)"}"#) }
        cluster.lose { _, _, _ in false }
        await stream.wait(for: "\(long)30\"")
        #expect(Set(stream.names) == ["snapshot", "change"])
        await owner.dispatch(#"{"rename":"end"}"#)
        await stream.wait(for: #""end""#)
        edge.stop()
        owner.stop()
    }
}
