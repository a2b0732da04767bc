// Checks that the fast path of change delivery gives the same changes as the general one.

import RivuletJSON
import RivuletObservation
import SeededRandom
import Testing

@testable import RivuletSessions

@Suite struct SinglePathFanOutTests {
    private static let tokens = ["a", "b", "*", "a/b", "~", "é", "e\u{301}", "", "a long token of an element's id"]
    private static let operations: [StateChange.Operation] = [.add, .remove, .replace, .move]

    private func path(_ random: inout SeededGenerator) -> JSONPointer {
        let count = Int.random(in: 0...3, using: &random)
        return JSONPointer(tokens: (0..<count).compactMap { _ in Self.tokens.randomElement(using: &random) })
    }

    private func change(_ random: inout SeededGenerator) -> StateChange {
        let operation = Self.operations.randomElement(using: &random) ?? .replace
        return StateChange(
            operation: operation,
            path: path(&random).description,
            index: operation == .move || Bool.random(using: &random) ? 3 : nil,
            value: operation == .add || operation == .replace ? Array("1".utf8) : nil
        )
    }

    /// The changes that each watcher sees, by the general path.
    private func seen(_ changes: [StateChange], _ trie: PathTrie<Int>) -> [Int: [StateChange]] {
        let all = FanOutPlan(changes, watched: trie, from: .nothing, to: .nothing)
        return all.seen.mapValues { (all.projections[$0] ?? []).map { all.items[$0] } }
    }

    @Test(arguments: 0..<40)
    func `the fast path gives the changes of the general path, or declines`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var shortCount = 0
        for _ in 0..<200 {
            var trie = PathTrie<Int>()
            for watcher in 0..<Int.random(in: 1...3, using: &random) {
                trie.insert(watcher, at: PathSet([path(&random)]))
            }
            let changes = (0..<Int.random(in: 1...3, using: &random)).map { _ in change(&random) }
            guard let alike = SinglePathFanOut(changes, watched: trie) else { continue }
            shortCount += 1
            let watchers = alike.items.isEmpty ? [] : alike.watchers
            let told = Dictionary(uniqueKeysWithValues: watchers.map { ($0, alike.items) })
            #expect(told == seen(changes, trie))
        }
        #expect(shortCount > 20)
    }

    @Test func `one watched field and one watched state use the fast path`() throws {
        for text in ["/p/title", "/p", ""] {
            var trie = PathTrie<Int>()
            trie.insert(7, at: PathSet([try JSONPointer(parsing: text)]))
            let title = StateChange(operation: .replace, path: "/p/title", value: Array("1".utf8))
            let other = StateChange(operation: .replace, path: "/t/count", value: Array("1".utf8))
            let alike = try #require(SinglePathFanOut([title, other], watched: trie))
            #expect(alike.watchers == [7] && alike.items == (text.isEmpty ? [title, other] : [title]))
        }
    }

    @Test func `a path uses the fast path again after other watchers have left`() throws {
        var trie = PathTrie<Int>()
        let (first, second) = (PathSet([JSONPointer(tokens: ["a"])]), PathSet([JSONPointer(tokens: ["b"])]))
        let changes = [StateChange(operation: .remove, path: "/b", value: nil)]
        trie.insert(1, at: first)
        trie.insert(2, at: second)
        #expect(try #require(SinglePathFanOut(changes, watched: trie)).watchers == [2])
        trie.remove(1, at: first)
        #expect(try #require(SinglePathFanOut(changes, watched: trie)).watchers == [2])
        trie.remove(2, at: second)
        #expect(try #require(SinglePathFanOut(changes, watched: trie)).items.isEmpty)
    }
}
