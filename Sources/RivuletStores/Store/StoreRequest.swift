import OrderedCollections
import RivuletBase

/// Receives the result of one request, exactly once, on any thread.
///
/// It must not block.
package typealias StoreReply = @Sendable (Result<StoreOutcome, any Error>) -> Void

/// The result of a request.
package struct StoreOutcome: Hashable, Sendable {
    /// The version after the request.
    package var version: UInt64
    /// The number of items with new identifiers.
    package var inserted = 0
    /// The number of items that replaced another item.
    package var replaced = 0
    /// The number of removed items.
    package var removed = 0
}

/// Steps that are made in one commit, with the reply to their caller.
package struct StoreRequest<Item: StorableItem>: Sendable {
    /// A condition on the store that must hold for the steps to be made.
    ///
    /// It throws the error of the request if the condition does not hold.
    ///
    /// It is called when all earlier requests have been made, and no commit is running.
    package typealias Condition = @Sendable (_ contents: StoreContents<Item>, _ version: UInt64) throws -> Void

    let steps: [PreparedStep<Item>]
    let condition: Condition?
    let reply: StoreReply
    /// The number of bytes of keys and documents in this request.
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

    /// The changes for the storage.
    var changes: [ItemChange] { steps.count == 1 ? steps[0].changes : steps.flatMap(\.changes) }

    /// Returns true if one of these keys is written.
    func inserts(anyOf keys: Set<ByteText>) -> Bool {
        !keys.isEmpty && steps.contains { step in step.insertion.keys.contains(where: keys.contains) }
    }

    /// True if all items are removed.
    var removesAll: Bool { steps.contains { if case .all = $0.removal { true } else { false } } }

    /// True if an item is inserted.
    var hasInsertion: Bool { steps.contains { !$0.insertion.isEmpty } }

    /// Returns the number of bytes of keys and documents after the steps.
    func bytesAfter(_ contents: StoreContents<Item>) -> Int {
        var bytes = contents.bytes
        var isEmptied = false
        // The bytes of the item of each changed key after the steps so far.
        var sizes: [ByteText: Int] = [:]
        func set(_ key: ByteText, _ size: Int) {
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
