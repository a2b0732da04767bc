// Checks streams with sources on another node, from the first event to the end.

import CounterFixture
import RivuletEngine
import RivuletEventLoop
import RivuletSessions
import RivuletStores
import Synchronization
import Testing

@testable import RivuletServer

@Suite(.timeLimit(.minutes(1))) final class StreamRelayTests {
    private let cluster = ModelCluster()
    private let owner: RelayNode
    private let edge: RelayNode

    init() throws {
        let engine = MemoryStorageEngine()
        owner = try RelayNode("owner-1", in: cluster, engine, host: { try $0.host(TallyApp()) })
        edge = try RelayNode("edge-1", in: cluster, engine, host: { try $0.host(TallyApp()) })
        cluster.setOwner("owner-1")
    }

    deinit {
        edge.stop()
        owner.stop()
    }

    private static let count = "sessions/s/changes?path=/p/count"

    private func change(_ version: Int, _ count: Int) -> String {
        #"change {"version":\#(version),"changes":[{"op":"replace","path":"/p/count","value":\#(count)}]}"#
    }

    // MARK: - Events

    @Test func `a stream gets a snapshot and each change`() async {
        await owner.dispatch(#"{"add":1}"#)
        let stream = edge.open(Self.count)
        await stream.wait(for: "event: snapshot")
        #expect(stream.events[0].hasPrefix(#"snapshot {"stream":"0-"#))
        #expect(stream.events[0].hasSuffix(#""version":1,"values":{"/p/count":1}}"#))
        await owner.dispatch(#"{"add":1}"#)
        await owner.dispatch(#"{"rename":"unseen"}"#)
        await owner.dispatch(#"{"add":2}"#)
        await stream.wait(for: "event: change", count: 2)
        #expect(stream.events.dropFirst() == [change(2, 2), change(4, 4)])
        #expect(stream.text.contains("Transfer-Encoding: chunked"))
    }

    @Test func `groups of different paths, formats, views of time and loops get their own events`() async {
        await owner.dispatch(#"{"insert":{"id":"a","at":0}}"#)
        let whole = edge.open("sessions/s/changes")
        let title = edge.open("sessions/s/changes?path=/p/title&path=/p/ratio")
        let wild = edge.open("sessions/s/changes?path=/p/items/*/title")
        let patch = edge.open("sessions/s/changes?path=/p/items&format=json-patch")
        let slow = edge.open("sessions/s/changes?path=/p/count&interval=1")
        let local = owner.open(Self.count)
        for stream in [whole, title, wild, patch, slow, local] { await stream.wait(for: "event: snapshot") }
        await owner.dispatch(#"[{"add":3},{"rename":"b"},{"retitle":{"id":"a","title":"c"}}]"#)
        for stream in [whole, title, wild, patch, slow, local] { await stream.wait(for: "event: change") }
        #expect(title.events[1].contains(#""op":"replace","path":"/p/title","value":"b""#))
        #expect(wild.events[1].contains(#""op":"replace","path":"/p/items/a/title","value":"c""#))
        #expect(patch.events[1] == #"change [{"op":"replace","path":"/0/title","value":"c"}]"#)
        #expect(slow.events[1] == change(2, 3))
        #expect(local.events[1] == change(2, 3))
        #expect(whole.events[1].contains("/t/lastEvent"))
    }

    @Test func `a stream that resumes gets one change, or with resume=all each version`() async throws {
        await owner.dispatch(#"{"add":1}"#)
        let first = edge.open(Self.count)
        await first.wait(for: "event: snapshot")
        let id = try #require(first.text.split(separator: "id: ").dropFirst().first?.prefix { $0 != "\n" })
        for _ in 0..<3 { await owner.dispatch(#"{"add":1}"#) }
        let merged = edge.open(Self.count, fields: "Last-Event-ID: \(id)\r\n")
        let all = edge.open("\(Self.count)&resume=all", fields: "Last-Event-ID: \(id)\r\n")
        await merged.wait(for: "event: change")
        await all.wait(for: "event: change", count: 3)
        #expect(merged.events == [change(4, 4)])
        #expect(all.events == [change(2, 2), change(3, 3), change(4, 4)])
        await owner.dispatch(#"{"add":1}"#)
        await merged.wait(for: "event: change", count: 2)
        await all.wait(for: "event: change", count: 4)
        #expect(merged.events.last == change(5, 5))
        #expect(all.events.last == change(5, 5))
    }

    @Test func `a compressed stream is compressed on its own node`() async throws {
        await owner.dispatch(#"{"add":1}"#)
        let stream = edge.open(Self.count, fields: "Accept-Encoding: gzip\r\n")
        await stream.wait(for: "Content-Encoding: gzip")
        let plain = edge.open(Self.count)
        await plain.wait(for: "event: snapshot")
        await owner.dispatch(#"{"add":1}"#)
        await plain.wait(for: "event: change")
        await owner.request("DELETE /v1/apps/tally/sessions/s")
        await stream.end()
        let end = try #require(stream.bytes.firstRange(of: Array("\r\n\r\n".utf8)))
        let body = try #require(dechunked(Array(stream.bytes[end.upperBound...])))
        #expect(body.isEnded)
        let text = String(decoding: try #require(gunzip(body.content)), as: UTF8.self)
        #expect(text.contains("event: snapshot") && text.contains("event: change"))
        #expect(text.contains(#"event: bye\#ndata: {"reason":"deleted""#))
    }

    @Test func `a slow consumer gets one merged change from the owner`() async {
        let stream = edge.open("sessions/s/changes?path=/p/title")
        await stream.wait(for: "event: snapshot")
        let fast = edge.open("sessions/s/changes?path=/p/title")
        await fast.wait(for: "event: snapshot")
        stream.setStuck(true)
        let long = String(repeating: "x", count: 100_000)
        for number in 1...6 {
            await owner.dispatch(#"{"rename":"\#(long)\#(number)"}"#)
            await fast.wait(for: "event: change", count: number)
        }
        // The first change is on its way; the others are too many bytes to keep.
        stream.setStuck(false)
        await stream.wait(for: "\(long)6\"")
        #expect(stream.names == ["snapshot", "change", "change"])
        await owner.dispatch(#"{"rename":"end"}"#)
        await stream.wait(for: #""end""#)
        #expect(stream.names == ["snapshot", "change", "change", "change"])
    }

    @Test func `loops of a node share the messages of the owner's loops`() async throws {
        let engine = MemoryStorageEngine()
        let cluster = ModelCluster()
        let owner = try RelayNode("a", in: cluster, engine, host: { try $0.host(TallyApp()) }, loops: 3)
        let edge = try RelayNode("b", in: cluster, engine, host: { try $0.host(TallyApp()) }, loops: 3)
        cluster.setOwner("a")
        let streams = (0..<6).map { edge.open(Self.count, loop: $0 % 3) }
        for stream in streams { await stream.wait(for: "event: snapshot") }
        let sent = cluster.count(2, to: "b")
        await owner.dispatch(#"{"add":1}"#)
        for stream in streams { await stream.wait(for: "event: change") }
        #expect(cluster.count(2, to: "b") == sent + 1)
        #expect(streams.allSatisfy { $0.events.dropFirst() == [change(1, 1)] })
        edge.stop()
        owner.stop()
    }

    // MARK: - Errors and ends

    @Test func `a refused stream gets the answer of its source`() async {
        let view = edge.open("sessions/s/views/none/changes")
        await view.wait(for: "HTTP/1.1 404")
        let deleted = edge.open(Self.count)
        await deleted.wait(for: "event: snapshot")
        await owner.dispatch(#"{"add":1}"#)
        await deleted.wait(for: "event: change")
        await owner.request("DELETE /v1/apps/tally/sessions/s")
        await deleted.end()
        #expect(deleted.events.last?.hasPrefix(#"bye {"reason":"deleted","reconnect":false"#) == true)
    }

    @Test func `the last stream that leaves ends the messages of its group`() async {
        let streams = [edge.open(Self.count), edge.open(Self.count)]
        for stream in streams { await stream.wait(for: "event: snapshot") }
        streams[0].close()
        await owner.dispatch(#"{"add":1}"#)
        await streams[1].wait(for: "event: change")
        streams[1].close()
        await settle()
        let sent = cluster.count(2, to: "edge-1")
        await owner.dispatch(#"{"add":1}"#)
        await settle()
        #expect(cluster.count(2, to: "edge-1") == sent)
        #expect(await isEmpty(owner))
    }

    /// Returns true if no group of a session has members.
    private func isEmpty(_ node: RelayNode) async -> Bool { await node.run { $0.shard.isQuiet } }

    /// Waits until everything that is under way has arrived: leaves, requests, answers.
    private func settle() async {
        for _ in 0..<3 {
            _ = await edge.run { _ in }
            await withCheckedContinuation { continuation in cluster.run { continuation.resume() } }
            _ = await owner.run { _ in }
            await withCheckedContinuation { continuation in cluster.run { continuation.resume() } }
        }
    }

    @Test func `new paths of a stream are asked of the owner`() async throws {
        let stream = edge.open(Self.count)
        await stream.wait(for: "event: snapshot")
        let name = try #require(stream.text.split(separator: "\"stream\":\"").dropFirst().first?.prefix { $0 != "\"" })
        #expect(name.hasSuffix("-edge-1"))
        let answer = await edge.request("PATCH /v1/streams/\(name)", #"{"paths":["/p/title"]}"#)
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        await stream.wait(for: "event: snapshot", count: 2)
        await owner.dispatch(#"[{"add":1},{"rename":"b"}]"#)
        await stream.wait(for: "event: change")
        #expect(stream.events[2].hasSuffix(#"[{"op":"replace","path":"/p/title","value":"b"}]}"#))
        let list = await edge.request("GET /v1/streams")
        #expect(list.contains(#""stream":"\#(name)","node":"edge-1""#))
        #expect(await owner.request("DELETE /v1/streams/\(name)").hasPrefix("HTTP/1.1 404"))
        #expect(await edge.request("DELETE /v1/streams/\(name)").hasPrefix("HTTP/1.1 204"))
        await stream.end()
        #expect(stream.events.last?.contains("revoked") == true)
    }

    @Test func `a turn's event is one message for all streams of a node`() async {
        let streams = (0..<300).map { _ in edge.open(Self.count) }
        for stream in streams { await stream.wait(for: "event: snapshot") }
        let sent = cluster.count(2, to: "edge-1")
        await owner.dispatch(#"{"add":1}"#)
        for stream in streams { await stream.wait(for: "event: change") }
        #expect(cluster.count(2, to: "edge-1") == sent + 1)
        #expect(streams.allSatisfy { $0.events.last == change(1, 1) })
    }

    @Test func `a stopping owner does not wait for the streams of other nodes`() async throws {
        let engine = MemoryStorageEngine()
        let cluster = ModelCluster()
        let owner = try RelayNode("a", in: cluster, engine, host: { try $0.host(TallyApp()) })
        let edge = try RelayNode("b", in: cluster, engine, host: { try $0.host(TallyApp()) })
        cluster.setOwner("a")
        await owner.dispatch(#"{"add":1}"#)
        let stream = edge.open(Self.count)
        await stream.wait(for: "event: snapshot")
        owner.stop()
        cluster.setOwner("b")
        await edge.dispatch(#"{"add":1}"#)
        await stream.wait(for: "event: change")
        #expect(stream.events.dropFirst() == [change(2, 2)])
        edge.stop()
    }
}
