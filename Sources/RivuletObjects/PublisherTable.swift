import Synchronization

/// The publishers of all living objects without one of their own.
///
/// An entry is known by its object, not by the address alone: an object at the address of a dead one starts with a publisher of its own.
/// The entry of an object with connected fields goes when the object does (``PublishedLink``), others when the table has doubled.
final class PublisherTable: Sendable {
    static let shared = PublisherTable()

    /// How many entries may stand before dead ones are looked for.
    static let entriesMin = 64

    private struct Entry {
        weak var object: (any ObservableObject)?
        let publisher: ObservableObjectPublisher
    }

    private struct Contents {
        var entries: [ObjectIdentifier: Entry] = [:]
        var sweepsAt = PublisherTable.entriesMin

        /// Takes out the entries of dead objects, each time that the living ones have doubled.
        ///
        /// Returns what is to be released: the dead objects' publishers, and the living ones, which may have died meanwhile.
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

    /// How many entries there are, with dead ones that nobody has looked for yet.
    var count: Int { contents.withLock { $0.entries.count } }

    /// The publisher of an object, which is made if there is none.
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

    /// Drops the entry of an object that is dead; that of a living one at its address stays.
    func forget(_ id: ObjectIdentifier) {
        let released: [AnyObject] = contents.withLock { contents in
            guard let entry = contents.entries[id] else { return [] }
            if let living = entry.object { return [living] }
            contents.entries[id] = nil
            return [entry.publisher]
        }
        Self.release(released)
    }

    /// Lets go of objects outside of the lock: the end of what they hold may come back to this table.
    private static func release(_ objects: consuming [AnyObject]) {}
}

/// What the fields of one object share: where to tell of changes, and until when.
///
/// Fields may outlive their object; then nobody is told any more. Source: <Tests/Rows/Systems.md#c-13>, C-14.
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

    /// Tells that the object will change, while there is one.
    func send() {
        guard let owner else { return }
        // The object stays until all are told.
        withExtendedLifetime(owner) { publisher.send() }
    }
}
