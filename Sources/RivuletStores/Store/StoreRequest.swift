import OrderedCollections

/// Receives the end of one request, exactly once, on any thread; it must not block.
package typealias StoreReply = @Sendable (Result<StoreOutcome, any Error>) -> Void

/// What a request has made of a store.
package struct StoreOutcome: Hashable, Sendable {
    /// The version that it led to.
    package var version: UInt64
    /// How many items came under new identifiers.
    package var inserted = 0
    /// How many items took the place of another one.
    package var replaced = 0
    /// How many items went.
    package var removed = 0
}

/// Steps that are made in one commit, and who waits for it.
package struct StoreRequest<Item: StorableItem>: Sendable {
    /// What has to be true of the store for the steps to be made; it throws the error that the request gets otherwise.
    ///
    /// Asked when everything before the request has been made, and nothing is under way.
    package typealias Condition = @Sendable (_ contents: StoreContents<Item>, _ version: UInt64) throws -> Void

    let steps: [PreparedStep<Item>]
    let condition: Condition?
    let reply: StoreReply
    /// How many bytes of keys and documents wait with this request.
    let bytes: Int

    init(_ steps: [PreparedStep<Item>], if condition: Condition? = nil, reply: @escaping StoreReply) {
        self.steps = steps
        self.condition = condition
        self.reply = reply
        bytes = steps.lazy.flatMap(\.changes).reduce(0) { bytes, change in
            switch change {
            case .put(let key, let document): bytes + key.utf8.count + document.count
            case .remove(let key): bytes + key.utf8.count
            case .removeAll: bytes
            }
        }
    }

    /// What the storage has to do.
    var changes: [ItemChange] { steps.count == 1 ? steps[0].changes : steps.flatMap(\.changes) }

    /// Whether one of these keys is written.
    func inserts(anyOf keys: Set<ItemKey>) -> Bool {
        !keys.isEmpty && steps.contains { step in step.insertion.keys.contains(where: keys.contains) }
    }

    /// Whether an item comes.
    var hasInsertion: Bool { steps.contains { !$0.insertion.isEmpty } }

    /// How many bytes of keys and documents there are when the steps are made.
    func bytesAfter(_ contents: StoreContents<Item>) -> Int {
        var bytes = contents.bytes
        var isEmptied = false
        // What the steps so far made of a key.
        var sizes: [ItemKey: Int] = [:]
        func set(_ key: ItemKey, _ size: Int) {
            let before = sizes.updateValue(size, forKey: key) ?? (isEmptied ? 0 : contents.size(of: key) ?? 0)
            bytes += size - before
        }
        for step in steps {
            switch step.removal {
            case .keys(let keys): for key in keys { set(key, 0) }
            case .all: (bytes, isEmptied, sizes) = (0, true, [:])
            }
            for (key, size) in zip(step.insertion.keys, step.sizes) { set(key, size) }
        }
        return bytes
    }
}
