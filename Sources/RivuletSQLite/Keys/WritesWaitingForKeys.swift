internal import RivuletStores

/// Commits by their collections, each in the order in which they were asked for.
struct WritesWaitingForKeys {
    private var writes: [ItemKey: [WriteRequest]] = [:]

    /// Whether commits of a collection wait, so that the next one has to wait behind them.
    func contain(_ name: ItemKey) -> Bool { writes[name] != nil }

    /// Adds a commit.
    mutating func add(_ write: WriteRequest, of name: ItemKey) {
        writes[name, default: []].append(write)
    }

    /// The commits of a collection, which do not wait for keys any more.
    mutating func take(_ name: ItemKey) -> [WriteRequest] {
        guard let waiting = writes.removeValue(forKey: name) else { return [] }
        return waiting.map(\.withoutWaiting)
    }

    /// All commits.
    mutating func takeAll() -> [WriteRequest] {
        defer { writes = [:] }
        return writes.values.flatMap(\.self)
    }
}
