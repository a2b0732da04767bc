import OrderedCollections
import RivuletBase

/// One step of an operation, which results in one event.
package enum StoreStep<Item: StorableItem>: Sendable {
    /// Inserts items after the removal of others.
    ///
    /// The event has only the inserted items.
    case insert([Item], after: Removal)
    /// Removes items; `isList` is true if they were given as a list.
    case remove([Item], isList: Bool)
    /// Removes the items with these identifiers; identifiers without an item are ignored.
    ///
    /// The event has only the removed items.
    case removeKeys([String], isList: Bool)
    /// Removes all items.
    case removeAll

    /// The removal before an insert.
    package enum Removal: Sendable {
        case nothing
        case items([Item])
        case keys([String])
        case all
    }
}

extension StoreStep {
    /// Adds a step to a chain.
    ///
    /// An insert is joined with the removal directly before it, unless that removal is of a single item.
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

/// A step with all values that do not depend on the contents of the store.
struct PreparedStep<Item: StorableItem>: Sendable {
    /// The keys that are removed before the insertion.
    enum Removal: Sendable {
        case keys([ByteText])
        case all
    }

    /// The content of the event.
    enum Event: Sendable {
        /// The inserted items.
        case insertion
        /// The given items, also items that did not exist.
        case removal([Item])
        /// The removed items; no event if nothing was removed.
        case removalOfPresent
        /// All items before the step.
        case emptying
    }

    let removal: Removal
    /// The last item with each identifier, at the identifier's first position.
    let insertion: OrderedDictionary<ByteText, Item>
    /// The bytes of the key and the document of each insertion, in order.
    let sizes: [Int]
    let event: Event
    let changes: [ItemChange]

    /// Prepares a step.
    ///
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
        var insertion = OrderedDictionary<ByteText, Item>(minimumCapacity: items.count)
        for item in items { insertion[ByteText(item[keyPath: identifier])] = item }
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

    private static func keys(of items: [Item], _ identifier: KeyPath<Item, String>) -> [ByteText] {
        unique(items.lazy.map { $0[keyPath: identifier] })
    }

    private static func unique(_ keys: some Sequence<String>) -> [ByteText] {
        var unique: OrderedSet<ByteText> = []
        for key in keys { unique.append(ByteText(key)) }
        return unique.elements
    }
}
