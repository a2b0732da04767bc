import OrderedCollections

/// One step of an operation; it ends in one event.
package enum StoreStep<Item: StorableItem>: Sendable {
    /// Items come, after others went; who follows the store hears only of those that came.
    case insert([Item], after: Removal)
    /// Items go; `isList` tells whether they were given as one.
    case remove([Item], isList: Bool)
    /// The items with these identifiers go, those that are there; who follows the store hears of those.
    case removeKeys([String], isList: Bool)
    /// All items go.
    case removeAll

    /// What goes before an insert.
    package enum Removal: Sendable {
        case nothing
        case items([Item])
        case keys([String])
        case all
    }
}

extension StoreStep {
    /// Adds a step to a chain; an insert becomes one with the removal just before it, unless that was of a single item.
    ///
    /// Source: <Tests/Rows/Systems.md#e-16>.
    package static func append(_ step: Self, to steps: inout [Self]) {
        guard case .insert(let items, .nothing) = step else { return steps.append(step) }
        switch steps.last {
        case .remove(let removed, isList: true): steps[steps.count - 1] = .insert(items, after: .items(removed))
        case .removeKeys(let keys, isList: true): steps[steps.count - 1] = .insert(items, after: .keys(keys))
        case .removeAll: steps[steps.count - 1] = .insert(items, after: .all)
        default: steps.append(step)
        }
    }
}

/// A step with everything worked out that needs no knowledge of what the store holds.
struct PreparedStep<Item: StorableItem>: Sendable {
    /// Who goes, before anybody comes.
    enum Removal: Sendable {
        case keys([ItemKey])
        case all
    }

    /// What the event tells.
    enum Event: Sendable {
        /// The items that came.
        case insertion
        /// The items that were given, there or not.
        case removal([Item])
        /// The items that were there; none, when there were none.
        case removalOfPresent
        /// All items that were there.
        case emptying
    }

    let removal: Removal
    /// The first place and the last value of each identifier.
    let insertion: OrderedDictionary<ItemKey, Item>
    /// The bytes of each of these, key and document, in their order.
    let sizes: [Int]
    let event: Event
    let changes: [ItemChange]

    /// - Throws: ``StoreError/unrepresentable(key:)``.
    init(_ step: StoreStep<Item>, identifier: KeyPath<Item, String>) throws(StoreError) {
        var items: [Item] = []
        switch step {
        case .insert(let inserted, let before):
            items = inserted
            event = .insertion
            switch before {
            case .nothing: removal = .keys([])
            case .items(let removed): removal = .keys(Self.keys(of: removed, identifier))
            case .keys(let keys): removal = .keys(Self.unique(keys))
            case .all: removal = .all
            }
        case .remove(let removed, _):
            removal = .keys(Self.keys(of: removed, identifier))
            event = .removal(removed)
        case .removeKeys(let keys, _):
            removal = .keys(Self.unique(keys))
            event = .removalOfPresent
        case .removeAll:
            removal = .all
            event = .emptying
        }
        var insertion = OrderedDictionary<ItemKey, Item>(minimumCapacity: items.count)
        for item in items { insertion[ItemKey(item[keyPath: identifier])] = item }
        var changes: [ItemChange] =
            switch removal {
            case .keys(let keys): keys.map { .remove(key: $0.text) }
            case .all: [.removeAll]
            }
        changes.reserveCapacity(changes.count + insertion.count)
        var sizes: [Int] = []
        sizes.reserveCapacity(insertion.count)
        for (key, item) in insertion {
            let document = try ItemDocument.encode(item, key: key.text)
            sizes.append(key.text.utf8.count + document.count)
            changes.append(.put(key: key.text, document: document))
        }
        self.insertion = insertion
        self.sizes = sizes
        self.changes = changes
    }

    private static func keys(of items: [Item], _ identifier: KeyPath<Item, String>) -> [ItemKey] {
        unique(items.lazy.map { $0[keyPath: identifier] })
    }

    private static func unique(_ keys: some Sequence<String>) -> [ItemKey] {
        var unique: OrderedSet<ItemKey> = []
        for key in keys { unique.append(ItemKey(key)) }
        return unique.elements
    }
}
