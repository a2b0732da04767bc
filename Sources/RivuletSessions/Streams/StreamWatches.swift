/// The paths that a session's groups watch, in a tree for the state and one for each view.
struct StreamWatches {
    private var tries: [String?: PathTrie<GroupID>] = [:]

    /// The approximate memory of the trees and of the groups' path sets, in bytes.
    private(set) var memoryBytes = 0

    /// Begins with these groups.
    init(_ groups: [GroupID: StreamGroup] = [:]) {
        for (id, group) in groups { insert(id, group.key) }
    }

    /// The watched paths of the state, or of a view; nil if no group watches it.
    func paths(of view: String?) -> PathTrie<GroupID>? { tries[view] }

    mutating func insert(_ group: GroupID, _ key: StreamGroupKey) {
        edit(key) { $0.insert(group, at: key.paths) }
        memoryBytes += key.paths.memoryBytes
    }

    mutating func remove(_ group: GroupID, _ key: StreamGroupKey) {
        edit(key) { $0.remove(group, at: key.paths) }
        memoryBytes -= key.paths.memoryBytes
    }

    private mutating func edit(_ key: StreamGroupKey, _ edit: (inout PathTrie<GroupID>) -> Void) {
        // The tree is taken out of the dictionary, so that it is not copied.
        var trie = tries.removeValue(forKey: key.view) ?? PathTrie()
        let bytes = trie.memoryBytes
        edit(&trie)
        memoryBytes += trie.memoryBytes - bytes
        if !trie.isEmpty { tries[key.view] = trie }
    }
}
