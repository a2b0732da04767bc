import RivuletJSON
import RivuletObservation

/// The changes of one dispatch as the watchers of a document see them: each path once, only where the value differs.
///
/// A watcher of several paths sees each change that it would see with one of its paths alone. A change of a node comes
/// before changes within that node.
///
/// All seen changes are in `items`, made once for all watchers. A projection is the list of the items that a watcher
/// sees. Watchers with the same projection get the same event.
struct FanOutPlan<Watcher: Hashable & Sendable> {
    private(set) var items: [StateChange] = []
    /// The projection of each watcher, as a number in `projections`.
    ///
    /// It is a number and not a list, because many watchers share few projections.
    private(set) var seen: [Watcher: Int] = [:]
    /// The projections by their numbers.
    ///
    /// Each projection has the indices of its items in ascending order, which is the order of the changes.
    private(set) var projections: [Int: [Int]] = [:]
    /// Each projection as an earlier projection and one more item; the first is empty.
    private var steps = [Step(projection: 0, item: 0)]
    private var known: [Step: Int] = [:]
    /// The number of visited nodes of the tree.
    private(set) var visits = 0

    private let trie: PathTrie<Watcher>
    private let old: ReadableDocument
    private let new: ReadableDocument
    /// The index in `items` of each compared path; nil for a path with the same value before and after.
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
            // A path that is no pointer is skipped; change recorders make no such path.
            guard let path = try? JSONPointer(parsing: change.path) else { continue }
            add(change, at: path.tokens)
        }
        listProjections()
    }

    private struct Step: Hashable {
        let projection: Int
        let item: Int
    }

    /// Lists the items of each projection, and merges projections that differ only in the order in which their items
    /// were found.
    private mutating func listProjections() {
        var first: [[Int]: Int] = [:]
        var merged: [Int: Int] = [:]
        for projection in Set(seen.values) {
            var items: [Int] = []
            var rest = projection
            while rest != 0 {
                items.append(steps[rest].item)
                rest = steps[rest].projection
            }
            let sorted = items.sortedOnce
            let same = first[sorted, default: projection]
            first[sorted] = same
            merged[projection] = same
            projections[same] = sorted
        }
        guard projections.count < merged.count else { return }
        for (watcher, projection) in seen { seen[watcher] = merged[projection] }
    }

    private mutating func add(_ change: StateChange, at tokens: [String]) {
        let match = trie.match(tokens)
        visits += match.visits
        addWhole(change, match.whole)
        guard change.operation != .move, !match.parts.isEmpty else { return }
        for (path, part) in locations(of: match.parts, below: tokens) {
            guard let index = difference(at: path, like: change) else { continue }
            var watchers = trie.watchers(of: part)
            if path.tokens.count == tokens.count {
                // A wildcard with too many paths becomes one change of the whole value, which watchers of that value
                // have already.
                for match in match.whole { watchers.subtract(trie.watchers(of: match.id)) }
            }
            give(index, to: watchers)
        }
    }

    /// Gives the change to the watchers of its path and of the nodes that contain it.
    private mutating func addWhole(_ change: StateChange, _ matches: [PathTrie<Watcher>.Match.Whole]) {
        var whole: Set<Watcher> = []
        var item: Int?
        var unplaced: Int?
        // Outer paths come first, so that a watcher of both a collection and one of its elements sees the element's
        // index.
        for match in matches {
            let watchers = trie.watchers(of: match.id)
            let fresh = whole.isEmpty ? watchers : watchers.subtracting(whole)
            if whole.isEmpty { whole = watchers } else { whole.formUnion(fresh) }
            if !match.isAbove, change.index != nil {
                guard change.operation != .move else { continue }
                // Watchers of the element alone do not see its index in the collection.
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
    }

    private mutating func give(_ item: Int, to watchers: Set<Watcher>) {
        // Most watchers have the same projection so far, so the last step is used again.
        var last = (from: 0, to: add(item, to: 0))
        for watcher in watchers {
            let projection = seen[watcher] ?? 0
            if projection != last.from { last = (projection, add(item, to: projection)) }
            seen[watcher] = last.to
        }
    }

    private mutating func add(_ item: Int, to projection: Int) -> Int {
        let step = Step(projection: projection, item: item)
        if let known = known[step] { return known }
        steps.append(step)
        known[step] = steps.count - 1
        return steps.count - 1
    }

    private mutating func append(_ change: StateChange) -> Int {
        items.append(change)
        return items.count - 1
    }

    /// The concrete paths of watched paths below a change, each before the paths within it.
    private func locations(
        of parts: [PathTrie<Watcher>.NodeID],
        below changed: [String]
    ) -> [(path: JSONPointer, part: PathTrie<Watcher>.NodeID)] {
        var locations: [(path: JSONPointer, part: PathTrie<Watcher>.NodeID)] = []
        var hasWildcard = false
        for part in parts {
            let watched = trie.tokens(of: part)
            let pattern = changed + watched[changed.count...]
            if let wildcard = watched[changed.count...].firstIndex(of: PathSet.wildcard) {
                hasWildcard = true
                locations += expanded(pattern, literal: changed.count, wildcard: wildcard).map { ($0, part) }
            } else {
                locations.append((JSONPointer(tokens: pattern), part))
            }
        }
        // Without wildcards the paths are in that order already, because they are ordered by text.
        if hasWildcard { locations.sort { $0.path.tokens.count < $1.path.tokens.count } }
        return locations
    }

    /// The paths of a pattern before the change and after it; the removed paths come first.
    private func expanded(_ pattern: [String], literal: Int, wildcard: Int) -> [JSONPointer] {
        if let before = old.locations(of: pattern, literal: literal),
            let after = new.locations(of: pattern, literal: literal)
        {
            let present = Set(after.map { PathText($0.description) })
            let gone = before.filter { !present.contains(PathText($0.description)) }
            if gone.count + after.count <= PathSet.wildcardLocationsMax { return gone + after }
        }
        // There are too many paths for a change each: the node that contains them is compared instead.
        return [JSONPointer(tokens: Array(pattern[..<wildcard]))]
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
    /// The numbers in ascending order, each once.
    fileprivate var sortedOnce: [Int] {
        var result: [Int] = []
        for index in sorted() where result.last != index { result.append(index) }
        return result
    }
}
