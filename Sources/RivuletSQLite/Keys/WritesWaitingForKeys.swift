import RivuletBase
internal import RivuletStores

/// The commits that wait for keys, by collection, in the order of their requests.
struct WritesWaitingForKeys {
    private var writes: [ByteText: [any WriteRequest]] = [:]

    /// Returns true if commits of a collection wait, so that the next commit must wait after them.
    func contain(_ name: ByteText) -> Bool { writes[name] != nil }

    /// Adds a commit.
    mutating func add(_ write: any WriteRequest, of name: ByteText) {
        writes[name, default: []].append(write)
    }

    /// Removes and returns the commits of a collection, which no longer wait for keys.
    mutating func take(_ name: ByteText) -> [any WriteRequest] {
        guard let waiting = writes.removeValue(forKey: name) else { return [] }
        for write in waiting { write.stopWaitingForKeys() }
        return waiting
    }

    /// Removes and returns all commits.
    mutating func takeAll() -> [any WriteRequest] {
        defer { writes = [:] }
        return writes.values.flatMap(\.self)
    }
}
