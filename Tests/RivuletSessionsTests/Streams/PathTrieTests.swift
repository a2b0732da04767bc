// Checks that a change finds the watched paths that it affects, and visits no others.

import RivuletJSON
import Testing

@testable import RivuletSessions

@Suite struct PathTrieTests {
    private func paths(_ texts: String...) throws -> PathSet {
        PathSet(try texts.map { try JSONPointer(parsing: $0) })
    }

    private func tokens(_ text: String) throws -> [String] { try JSONPointer(parsing: text).tokens }

    /// The watchers that see the change unaltered, and those that see parts of it.
    private func seen(_ trie: PathTrie<Int>, _ path: String) throws -> (whole: Set<Int>, parts: Set<Int>) {
        let match = trie.match(try tokens(path))
        let whole = match.whole.reduce(into: Set<Int>()) { $0.formUnion(trie.watchers(of: $1.id)) }
        let parts = match.parts.reduce(into: Set<Int>()) { $0.formUnion(trie.watchers(of: $1)) }
        return (whole, parts)
    }

    @Test func `a change reaches the watchers of its path, of outer paths and of inner paths`() throws {
        var trie = PathTrie<Int>()
        trie.insert(1, at: try paths("/p"))
        trie.insert(2, at: try paths("/p/count", "/p/title"))
        trie.insert(3, at: try paths("/p/limits/low"))
        trie.insert(4, at: try paths(""))
        trie.insert(5, at: try paths("/t"))
        let count = try seen(trie, "/p/count")
        #expect(count.whole == [1, 2, 4] && count.parts.isEmpty)
        let half = try seen(trie, "/p")
        #expect(half.whole == [1, 4] && half.parts == [2, 3])
        let root = try seen(trie, "")
        #expect(root.whole == [4] && root.parts == [1, 2, 3, 5])
        let other = try seen(trie, "/p/countless")
        #expect(other.whole == [1, 4] && other.parts.isEmpty)
    }

    @Test func `only an outer watched path gets the order of elements`() throws {
        var trie = PathTrie<Int>()
        trie.insert(1, at: try paths("/items"))
        trie.insert(2, at: try paths("/items/a"))
        let match = trie.match(try tokens("/items/a"))
        #expect(match.whole.filter(\.isAbove).map { trie.watchers(of: $0.id) } == [[1]])
        #expect(match.whole.filter { !$0.isAbove }.map { trie.watchers(of: $0.id) } == [[2]])
    }

    @Test func `a wildcard stands for any one token`() throws {
        var trie = PathTrie<Int>()
        trie.insert(1, at: try paths("/items/*/done"))
        trie.insert(2, at: try paths("/items/a/done"))
        trie.insert(3, at: try paths("/*/*"))
        let field = try seen(trie, "/items/a/done")
        #expect(field.whole == [1, 2, 3])
        #expect(try seen(trie, "/items/b/done").whole == [1, 3])
        #expect(try seen(trie, "/items/*/done").whole == [1, 3])
        let element = try seen(trie, "/items/a")
        #expect(element.whole == [3] && element.parts == [1, 2])
        #expect(try seen(trie, "/items").parts == [1, 2, 3])
    }

    @Test func `tokens differ by their spelling, and are compared without their escapes`() throws {
        var trie = PathTrie<Int>()
        trie.insert(1, at: try paths("/items/é"))
        trie.insert(2, at: try paths("/items/e\u{301}"))
        trie.insert(3, at: try paths("/items/a~1b~0"))
        #expect(try seen(trie, "/items/é").whole == [1])
        #expect(try seen(trie, "/items/e\u{301}").whole == [2])
        #expect(trie.match(["items", "a/b~"]).whole.map { trie.watchers(of: $0.id) } == [[3]])
    }

    @Test func `a removed watcher leaves nothing`() throws {
        var trie = PathTrie<Int>()
        let sets = [
            try paths("/a/b", "/a/*/c"), try paths("/a"), try paths(""), try paths("/a/b/c/d"), try paths("/*"),
        ]
        for (watcher, set) in sets.enumerated() { trie.insert(watcher, at: set) }
        #expect(trie.memoryBytes > 0)
        for (watcher, set) in sets.enumerated().reversed() {
            trie.remove(watcher, at: set)
            #expect(try !seen(trie, "/a/b/c/d").whole.contains(watcher))
        }
        #expect(trie.isEmpty && trie.memoryBytes == 0)
        trie.insert(9, at: sets[0])
        #expect(try seen(trie, "/a/x/c").whole == [9])
    }

    @Test(arguments: [100, 10_000])
    func `a change visits only matching watchers, however many others exist`(count: Int) throws {
        var trie = PathTrie<Int>()
        for index in 0..<count {
            trie.insert(index, at: try paths("/p/items/\(index)/title", "/p/items/\(index)/done"))
        }
        let field = trie.match(try tokens("/p/items/7/title"))
        #expect(field.visits == 5)
        #expect(field.whole.map { trie.watchers(of: $0.id) } == [[7]])
        let element = trie.match(try tokens("/p/items/7"))
        #expect(element.visits == 6 && element.parts.count == 2)
        #expect(trie.match(try tokens("/p/count")).visits == 2)
    }
}
