import RivuletObservation

/// The changes of a dispatch as the watchers of a document see them, if the changes affect one watched path and nothing
/// below it.
///
/// Nearly all dispatches are of this kind. This type reads no document and makes no tables; `FanOutPlan` does the same
/// for any dispatch, at ten times the cost.
struct SinglePathFanOut<Watcher: Hashable & Sendable> {
    private(set) var items: [StateChange] = []
    /// The watchers that see all items.
    private(set) var watchers: Set<Watcher> = []

    /// Returns nil if the changes affect several watched paths, or may affect a path below a changed one.
    init?(_ changes: [StateChange], watched trie: PathTrie<Watcher>) {
        var common: PathTrie<Watcher>.NodeID?
        for change in changes {
            switch trie.reach(of: change.path) {
            case .nothing: continue
            case .several: return nil
            case .one(let node, let isAbove):
                guard common == nil || common == node else { return nil }
                common = node
                if isAbove || change.index == nil {
                    items.append(change)
                } else if change.operation != .move {
                    // Watchers of the element alone do not see its index in the collection.
                    var change = change
                    change.index = nil
                    items.append(change)
                }
            }
        }
        if let common { watchers = trie.watchers(of: common) }
    }
}
