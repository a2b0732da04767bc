// Checks that the cost of a dispatch depends on its subscribers only, and that an event for several groups is made
// once.

import CounterFixture
import RivuletJSON
import RivuletObservation
import Testing

@testable import RivuletSessions

@Suite struct SessionPublishingTests {
    @Test func `groups that see the same changes get the same event`() throws {
        let harness = try SessionHarness()
        for index in 0..<50 { try harness.subscribe("/p/count", "/p/items/\(index)") }
        let bounds = try harness.subscribe("/p/count", "/p/limits")
        try harness.dispatch(#"{"add":1}"#)
        #expect(harness.sink.delivered.count == 51)
        #expect(Set(harness.sink.delivered.map { ObjectIdentifier($0.event) }).count == 1)
        try harness.dispatch(#"[{"add":1},{"bounds":{"low":2,"high":3}}]"#)
        let events = harness.sink.delivered[51...]
        #expect(events.count == 51 && Set(events.map { ObjectIdentifier($0.event) }).count == 2)
        let other = try #require(events.first { $0.group == bounds.group })
        #expect(
            other.event.text
                == #"{"version":2,"changes":[{"op":"replace","path":"/p/count","value":2},{"op":"replace","path":"/p/limits/low","value":2},{"op":"replace","path":"/p/limits/high","value":3}]}"#
        )
    }

    @Test func `a change is delivered only to groups that see it, and to no removed group`() throws {
        let harness = try SessionHarness()
        let one = try harness.subscribe("/p/items/a/title")
        for index in 0..<300 { try harness.subscribe("/p/items/\(index)/title") }
        try harness.dispatch(#"{"insert":{"id":"a","at":0}}"#)
        #expect(harness.sink.delivered.map(\.group) == [one.group])
        try harness.session().leave(one.group, loop: one.stream.loop)
        try harness.dispatch(#"{"retitle":{"id":"a","title":"x"}}"#)
        #expect(harness.sink.delivered.count == 1)
    }

    @Test(arguments: [10, 10_000])
    func `the work of a change does not grow with other watchers`(count: Int) throws {
        var trie = PathTrie<Int>()
        for index in 0..<count {
            trie.insert(index, at: PathSet([JSONPointer(tokens: ["p", "items", "\(index)"])]))
        }
        let title = StateChange(operation: .replace, path: "/p/items/3/title", value: Array("1".utf8))
        let nothing = ReadableDocument { _, _ in false }
        let seen = FanOutPlan([title], watched: trie, from: nothing, to: nothing)
        #expect(seen.seen.mapValues { seen.projections[$0] } == [3: [0]] && seen.visits == 4)
    }

    @Test func `a path with several watchers is compared once`() throws {
        var reads: [String] = []
        let document = { (value: String) in
            ReadableDocument { path, writer in
                reads.append(path.description)
                writer.string(value)
                return true
            }
        }
        var trie = PathTrie<Int>()
        for index in 0..<20 { trie.insert(index, at: PathSet([JSONPointer(tokens: ["p", "count"])])) }
        let change = StateChange(operation: .replace, path: "/p", value: Array("{}".utf8))
        let seen = FanOutPlan([change], watched: trie, from: document("old"), to: document("new"))
        #expect(seen.seen.count == 20 && seen.items.count == 1)
        #expect(reads == ["/p/count", "/p/count"])
    }

    @Test func `the watched paths of groups are part of the memory, and are released with the groups`() throws {
        let harness = try SessionHarness()
        let before = try harness.session().memoryBytes
        let long = "/p/items/" + letters(2_000)
        let joined = try harness.subscribe(long)
        #expect(try harness.session().memoryBytes - before > 4_000)
        try harness.session().leave(joined.group, loop: joined.stream.loop)
        #expect(try harness.session().memoryBytes == before)
    }
}
