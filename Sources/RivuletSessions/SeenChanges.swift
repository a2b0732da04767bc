// Part of Rivulet. See README.md for the architecture.
// Owns what each of many watchers sees of the changes of one dispatch.

import RivuletJSON
import RivuletObservation

/// What the watchers of a document see of one dispatch: each path once, only where the value differs.
///
/// Everything that is seen is one of `items`, made once for all who see it: watchers with the same items see the same event.
struct SeenChanges<Watcher: Hashable & Sendable> {
    private(set) var items: [StateChange] = []
    /// What each watcher sees, by the indices of the items in ascending order, which is the order of the changes.
    private(set) var seen: [Watcher: [Int]] = [:]
    /// How many nodes of the tree were looked at.
    private(set) var visits = 0

    private let trie: PathTrie<Watcher>
    private let old: ReadableDocument
    private let new: ReadableDocument
    /// The items of the places that were compared; nil for one whose value is the same.
    private var compared: [PathText: Int?] = [:]

    init(
        _ changes: [StateChange],
        watched trie: PathTrie<Watcher>,
        from old: ReadableDocument,
        to new: ReadableDocument
    ) {
        self.trie = trie
        self.old = old
        self.new = new
        for change in changes {
            // A change that no recorder makes: its path is no pointer.
            guard let path = try? JSONPointer(parsing: change.path) else { continue }
            add(change, at: path.tokens)
        }
        guard changes.count > 1 || !compared.isEmpty else { return }
        for (watcher, indices) in seen where indices.count > 1 { seen[watcher] = indices.sortedOnce }
    }

    private mutating func add(_ change: StateChange, at tokens: [String]) {
        let match = trie.match(tokens)
        visits += match.visits
        let whole = addWhole(change, match.whole)
        guard change.operation != .move else { return }
        for part in match.parts {
            let indices = differences(at: trie.tokens(of: part), below: tokens, like: change)
            guard !indices.isEmpty else { continue }
            for watcher in trie.watchers(of: part) where !whole.contains(watcher) {
                seen[watcher, default: []] += indices
            }
        }
    }

    /// Gives the change to those who watch its place or what contains it.
    ///
    /// - Returns: Those among them who may watch something below it, too.
    private mutating func addWhole(_ change: StateChange, _ matches: [PathTrie<Watcher>.Match.Whole]) -> Set<Watcher> {
        guard !matches.isEmpty else { return [] }
        var whole: Set<Watcher> = []
        var item: Int?
        var unplaced: Int?
        // The outer ones come first: who watches a collection, and an element of it, sees the element's place.
        for match in matches {
            let watchers = trie.watchers(of: match.place)
            let fresh = whole.isEmpty ? watchers : watchers.subtracting(whole)
            if whole.isEmpty { whole = watchers } else { whole.formUnion(fresh) }
            if !match.isAbove, change.index != nil {
                guard change.operation != .move else { continue }
                // Watchers of the element alone do not know its place among others.
                var change = change
                change.index = nil
                let index = unplaced ?? append(change)
                unplaced = index
                give(index, to: fresh)
            } else {
                let index = item ?? append(change)
                item = index
                give(index, to: fresh)
            }
        }
        return whole
    }

    private mutating func give(_ item: Int, to watchers: Set<Watcher>) {
        for watcher in watchers { seen[watcher, default: []].append(item) }
    }

    private mutating func append(_ change: StateChange) -> Int {
        items.append(change)
        return items.count - 1
    }

    /// The items of what differs at the places of a watched path that a change contains.
    private mutating func differences(at watched: [String], below changed: [String], like change: StateChange) -> [Int]
    {
        let pattern = changed + watched[changed.count...]
        guard let wildcard = watched[changed.count...].firstIndex(of: PathSet.wildcard) else {
            return difference(at: JSONPointer(tokens: pattern), like: change).map { [$0] } ?? []
        }
        let literal = changed.count
        if let before = old.places(of: pattern, literal: literal), let after = new.places(of: pattern, literal: literal)
        {
            let present = Set(after.map { PathText($0.description) })
            let gone = before.filter { !present.contains(PathText($0.description)) }
            if gone.count + after.count <= PathSet.wildcardPlacesMax {
                return (gone + after).compactMap { difference(at: $0, like: change) }
            }
        }
        // Too many to tell one by one: what contains them is told.
        return difference(at: JSONPointer(tokens: Array(pattern[..<wildcard])), like: change).map { [$0] } ?? []
    }

    private mutating func difference(at path: JSONPointer, like change: StateChange) -> Int? {
        let text = PathText(path.description)
        if let known = compared[text] { return known }
        let before = old.json(path)
        let after = new.json(path)
        guard before != after else {
            compared[text] = .some(nil)
            return nil
        }
        let operation: StateChange.Operation = before == nil ? .add : after == nil ? .remove : .replace
        let index = append(
            StateChange(operation: operation, path: text.text, value: after, isTransient: change.isTransient)
        )
        compared[text] = index
        return index
    }
}

extension [Int] {
    /// In ascending order, each once.
    fileprivate var sortedOnce: [Int] {
        var result: [Int] = []
        for index in sorted() where result.last != index { result.append(index) }
        return result
    }
}
