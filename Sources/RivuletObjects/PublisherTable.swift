import Synchronization

/// The publishers of all living objects that do not have a publisher of their own.
///
/// An entry is identified by its object, not by the address alone: an object at the address of a dead object gets a new
/// publisher. The entry of an object with connected fields is removed with the object (``PublishedLink``).
/// Entries of other dead objects are removed when the number of entries has doubled.
final class PublisherTable: Sendable {
    static let shared = PublisherTable()

    /// The number of entries up to which the table does not look for entries of dead objects.
    static let entriesMin = 64

    private struct Entry {
        weak var object: (any ObservableObject)?
        let publisher: ObservableObjectPublisher
    }

    private struct Contents {
        var entries: [ObjectIdentifier: Entry] = [:]
        var sweepsAt = PublisherTable.entriesMin

        /// Removes the entries of dead objects, each time that the number of entries has doubled.
        ///
        /// Returns the objects to release: the dead objects' publishers, and the living objects, because the sweep may
        /// hold the last references to them.
        mutating func sweepIfDue() -> [AnyObject] {
            guard entries.count > sweepsAt else { return [] }
            var released: [AnyObject] = []
            for (id, entry) in entries {
                guard let living = entry.object else {
                    entries[id] = nil
                    released.append(entry.publisher)
                    continue
                }
                released.append(living)
            }
            sweepsAt = max(PublisherTable.entriesMin, 2 * entries.count)
            return released
        }
    }

    private let contents = Mutex(Contents())

    /// The number of entries, including entries of dead objects that have not been removed yet.
    var count: Int { contents.withLock { $0.entries.count } }

    /// Returns the publisher of an object, and makes one if there is none.
    func publisher(of object: some ObservableObject) -> ObservableObjectPublisher {
        let id = ObjectIdentifier(object)
        let (publisher, released) = contents.withLock { contents in
            if let entry = contents.entries[id], entry.object === object { return (entry.publisher, [AnyObject]()) }
            let entry = Entry(object: object, publisher: ObservableObjectPublisher())
            let replaced = contents.entries.updateValue(entry, forKey: id)
            return (entry.publisher, [replaced?.publisher].compactMap(\.self) + contents.sweepIfDue())
        }
        Self.release(released)
        return publisher
    }

    /// Removes the entry of a dead object; the entry of a living object at its address stays.
    func forget(_ id: ObjectIdentifier) {
        let released: [AnyObject] = contents.withLock { contents in
            guard let entry = contents.entries[id] else { return [] }
            if let living = entry.object { return [living] }
            contents.entries[id] = nil
            return [entry.publisher]
        }
        Self.release(released)
    }

    /// Releases objects outside of the lock, because their deinitialisers may call this table.
    private static func release(_ objects: consuming [AnyObject]) {}
}

/// The state that the fields of one object share: the publisher to notify, and a weak reference to the object.
///
/// Fields may outlive their object; then they notify no subscribers any more. Source: <Tests/Rows/Systems.md#c-13>,
/// C-14.
final class PublishedLink: Sendable {
    private weak let owner: (any ObservableObject)?
    private let publisher: ObservableObjectPublisher
    private let id: ObjectIdentifier

    init(_ owner: some ObservableObject) {
        self.owner = owner
        publisher = owner.objectWillChange
        id = ObjectIdentifier(owner)
    }

    deinit {
        PublisherTable.shared.forget(id)
    }

    /// Notifies subscribers that the object will change, while the object lives.
    func send() {
        guard let owner else { return }
        // The object stays alive until all subscribers are notified.
        withExtendedLifetime(owner) { publisher.send() }
    }
}
