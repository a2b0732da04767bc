internal import RivuletStores

/// Commits by their collections, each in the order in which they were asked for.
struct WritesWaitingForKeys {
    private var writes: [ItemKey: [any WriteRequest]] = [:]

    /// Whether commits of a collection wait, so that the next one has to wait behind them.
    func contain(_ name: ItemKey) -> Bool { writes[name] != nil }

    /// Adds a commit.
    mutating func add(_ write: any WriteRequest, of name: ItemKey) {
        writes[name, default: []].append(write)
    }

    /// The commits of a collection, which do not wait for keys any more.
    mutating func take(_ name: ItemKey) -> [any WriteRequest] {
        guard let waiting = writes.removeValue(forKey: name) else { return [] }
        for write in waiting { write.stopWaitingForKeys() }
        return waiting
    }

    /// All commits.
    mutating func takeAll() -> [any WriteRequest] {
        defer { writes = [:] }
        return writes.values.flatMap(\.self)
    }
}
