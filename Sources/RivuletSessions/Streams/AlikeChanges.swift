import RivuletObservation

/// What the watchers of a document see of a dispatch that concerns one watched path and nothing below it, which is nearly all that happens.
///
/// It takes no look at the document, and no tables: `SeenChanges` tells the same of any dispatch, at ten times the cost.
struct AlikeChanges<Watcher: Hashable & Sendable> {
    private(set) var items: [StateChange] = []
    /// Those who see all items.
    private(set) var watchers: Set<Watcher> = []

    /// Nil for changes that are not of this kind.
    init?(_ changes: [StateChange], watched trie: PathTrie<Watcher>) {
        var common: PathTrie<Watcher>.Place?
        for change in changes {
            switch trie.reach(of: change.path) {
            case .nothing: continue
            case .several: return nil
            case .one(let place, let isAbove):
                guard common == nil || common == place else { return nil }
                common = place
                if isAbove || change.index == nil {
                    items.append(change)
                } else if change.operation != .move {
                    // Watchers of the element alone do not know its place among others.
                    var change = change
                    change.index = nil
                    items.append(change)
                }
            }
        }
        if let common { watchers = trie.watchers(of: common) }
    }
}
