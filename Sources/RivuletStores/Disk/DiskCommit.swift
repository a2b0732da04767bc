import RivuletBase

/// The keys that the files of a collection have.
struct DiskKeys {
    /// The items that can be read.
    var items: [ByteText: Identity] = [:]
    /// The files of items that cannot be read.
    var damaged: Set<DiskItemName> = []
    /// The arrival number of the next new key.
    var nextArrival: UInt64 = 0

    /// The data of a key that stays when its document is replaced.
    struct Identity {
        let arrival: UInt64
        let created: Int64
    }
}

/// The files that a commit writes and removes, and the keys after it.
struct DiskCommit {
    private(set) var puts: [ByteText: DiskItem] = [:]
    private(set) var keys: DiskKeys
    private var removed: Set<DiskItemName> = []
    private let before: DiskKeys
    private let time: Int64

    /// The existing files that the commit removes and does not also write.
    var removals: Set<DiskItemName> { removed.subtracting(puts.keys.map { DiskItemName($0.text) }) }

    /// Creates a commit that makes the changes in their order.
    init(_ changes: [ItemChange], to keys: DiskKeys, time: Int64) {
        self.keys = keys
        before = keys
        self.time = time
        for change in changes {
            switch change {
            case .put(let key, let document): put(key, document)
            case .remove(let key): remove(ByteText(key))
            case .removeAll: removeAll()
            }
        }
    }

    private mutating func put(_ key: String, _ document: [UInt8]) {
        let itemKey = ByteText(key)
        let identity: DiskKeys.Identity
        if let known = keys.items[itemKey] {
            identity = known
        } else {
            identity = DiskKeys.Identity(arrival: keys.nextArrival, created: time)
            keys.nextArrival += 1
            keys.items[itemKey] = identity
            keys.damaged.remove(DiskItemName(key))
        }
        let item = StoredItem(key: key, document: document, created: identity.created, updated: time)
        puts[itemKey] = DiskItem(arrival: identity.arrival, item: item)
    }

    private mutating func remove(_ key: ByteText) {
        puts[key] = nil
        keys.items[key] = nil
        let name = DiskItemName(key.text)
        keys.damaged.remove(name)
        if before.items[key] != nil || before.damaged.contains(name) { removed.insert(name) }
    }

    private mutating func removeAll() {
        removed.formUnion(before.items.keys.map { DiskItemName($0.text) })
        removed.formUnion(before.damaged)
        puts = [:]
        keys.items = [:]
        keys.damaged = []
    }
}
