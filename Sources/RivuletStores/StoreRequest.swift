// Part of Rivulet. See README.md for the architecture.
// Owns what a store was asked to do in one commit.

import OrderedCollections

/// Receives the end of one request, exactly once, on any thread; it must not block.
package typealias StoreReply = @Sendable (Result<Void, any Error>) -> Void

/// Steps that are made in one commit, and who waits for it.
struct StoreRequest<Item: StorableItem>: Sendable {
    let steps: [PreparedStep<Item>]
    let reply: StoreReply
    /// How many bytes of keys and documents wait with this request.
    let bytes: Int

    init(_ steps: [PreparedStep<Item>], reply: @escaping StoreReply) {
        self.steps = steps
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
}
