import RivuletAccess
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
        let locations = locations(of: match.parts, below: tokens)
        var containers: Set<PathText> = []
        for location in locations {
            guard location.pattern != nil else {
                if let index = difference(at: location.path, like: change) {
                    give(index, to: trie.watchers(of: location.part))
                }
                continue
            }
            guard containers.insert(PathText(location.path.description)).inserted else { continue }
            var outer = match.whole.reduce(into: Set<Watcher>()) { $0.formUnion(trie.watchers(of: $1.id)) }
            for other in locations where other.pattern == nil && other.path.isPrefix(of: location.path) {
                outer.formUnion(trie.watchers(of: other.part))
            }
            addContainer(at: location.path, of: locations, for: change, without: outer)
        }
    }

    /// Gives a value in place of too many values within it.
    ///
    /// The value has only the parts that a watcher's own patterns lead to: a watcher may be allowed to see nothing
    /// else. Watchers in `outer` get a whole value that contains it.
    private mutating func addContainer(
        at path: JSONPointer,
        of locations: [Location],
        for change: StateChange,
        without outer: Set<Watcher>
    ) {
        var patterns: [Watcher: [JSONPointer]] = [:]
        for location in locations where location.path == path {
            guard let pattern = location.pattern else { continue }
            for watcher in trie.watchers(of: location.part).subtracting(outer) {
                patterns[watcher, default: []].append(pattern)
            }
        }
        for (wanted, watchers) in Dictionary(grouping: patterns.keys, by: { patterns[$0] ?? [] }) {
            let (mask, schema) = (PathMask(wanted), new.schema)
            let before = old.json(path).flatMap { mask.pruned($0, at: path, of: schema) }
            let after = new.json(path).flatMap { mask.pruned($0, at: path, of: schema) }
            guard before != after else { continue }
            give(append(.difference(at: path.description, before, after, like: change)), to: Set(watchers))
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

    /// A place below a change, and the watched path that leads to it.
    private struct Location {
        let path: JSONPointer
        let part: PathTrie<Watcher>.NodeID
        /// The watched path, if it leads to so many paths that `path` is the node that contains them; nil otherwise.
        var pattern: JSONPointer?
    }

    /// The concrete paths of watched paths below a change, each before the paths within it.
    private func locations(of parts: [PathTrie<Watcher>.NodeID], below changed: [String]) -> [Location] {
        var locations: [Location] = []
        var hasWildcard = false
        for part in parts {
            let watched = trie.tokens(of: part)
            let pattern = changed + watched[changed.count...]
            if let wildcard = watched[changed.count...].firstIndex(of: PathSet.wildcard) {
                hasWildcard = true
                if let paths = expanded(pattern, literal: changed.count) {
                    locations += paths.map { Location(path: $0, part: part) }
                } else {
                    let outer = JSONPointer(tokens: Array(pattern[..<wildcard]))
                    locations.append(Location(path: outer, part: part, pattern: JSONPointer(tokens: pattern)))
                }
            } else {
                locations.append(Location(path: JSONPointer(tokens: pattern), part: part))
            }
        }
        // Without wildcards the paths are in that order already, because they are ordered by text.
        if hasWildcard { locations.sort { $0.path.tokens.count < $1.path.tokens.count } }
        return locations
    }

    /// The paths of a pattern before the change and after it, the removed paths first; nil if there are too many for a
    /// change each.
    private func expanded(_ pattern: [String], literal: Int) -> [JSONPointer]? {
        guard let before = old.locations(of: pattern, literal: literal),
            let after = new.locations(of: pattern, literal: literal)
        else { return nil }
        let present = Set(after.map { PathText($0.description) })
        let gone = before.filter { !present.contains(PathText($0.description)) }
        return gone.count + after.count <= PathSet.wildcardLocationsMax ? gone + after : nil
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
        let index = append(.difference(at: text.text, before, after, like: change))
        compared[text] = index
        return index
    }
}

extension StateChange {
    /// The change from one value to another.
    fileprivate static func difference(
        at path: String,
        _ before: [UInt8]?,
        _ after: [UInt8]?,
        like change: StateChange
    ) -> StateChange {
        let operation: Operation = before == nil ? .add : after == nil ? .remove : .replace
        return StateChange(operation: operation, path: path, value: after, isTransient: change.isTransient)
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
