import RivuletJSON
import RivuletObservation

/// What the watchers of a document see of one dispatch: each path once, only where the value differs.
///
/// Everything that is seen is one of `items`, made once for all who see it: watchers with the same items see the same event.
struct SeenChanges<Watcher: Hashable & Sendable> {
    private(set) var items: [StateChange] = []
    /// What each watcher sees, as a number of `sights`.
    ///
    /// No list, because many watchers see few different things.
    private(set) var seen: [Watcher: Int] = [:]
    /// What there is to see, by the numbers in `seen`: indices of items in ascending order, which is the order of the changes.
    private(set) var sights: [Int: [Int]] = [:]
    /// Each sight as another one and one more item; the first is nothing.
    private var steps = [Step(sight: 0, item: 0)]
    private var known: [Step: Int] = [:]
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
        listSights()
    }

    private struct Step: Hashable {
        let sight: Int
        let item: Int
    }

    /// Lists what is seen, and makes one of those sights that differ only in the order in which their items were found.
    private mutating func listSights() {
        var first: [[Int]: Int] = [:]
        var merged: [Int: Int] = [:]
        for sight in Set(seen.values) {
            var items: [Int] = []
            var rest = sight
            while rest != 0 {
                items.append(steps[rest].item)
                rest = steps[rest].sight
            }
            let sorted = items.sortedOnce
            let same = first[sorted, default: sight]
            first[sorted] = same
            merged[sight] = same
            sights[same] = sorted
        }
        guard sights.count < merged.count else { return }
        for (watcher, sight) in seen { seen[watcher] = merged[sight] }
    }

    private mutating func add(_ change: StateChange, at tokens: [String]) {
        let match = trie.match(tokens)
        visits += match.visits
        let whole = addWhole(change, match.whole)
        guard change.operation != .move else { return }
        for part in match.parts {
            let indices = differences(at: trie.tokens(of: part), below: tokens, like: change)
            guard !indices.isEmpty else { continue }
            let watchers = whole.isEmpty ? trie.watchers(of: part) : trie.watchers(of: part).subtracting(whole)
            for index in indices { give(index, to: watchers) }
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
        // Most of them have seen the same so far.
        var last = (from: 0, to: add(item, to: 0))
        for watcher in watchers {
            let sight = seen[watcher] ?? 0
            if sight != last.from { last = (sight, add(item, to: sight)) }
            seen[watcher] = last.to
        }
    }

    private mutating func add(_ item: Int, to sight: Int) -> Int {
        let step = Step(sight: sight, item: item)
        if let known = known[step] { return known }
        steps.append(step)
        known[step] = steps.count - 1
        return steps.count - 1
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
