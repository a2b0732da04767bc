import Synchronization

/// Where a field's value is kept.
final class PublishedStorage<Value: Sendable>: Sendable {
    private struct Contents {
        /// Nil only until the enclosing initialiser has given the declared value, before any other code sees the field.
        var value: Value?
        var link: PublishedLink?
    }

    private let contents: Mutex<Contents>

    init(_ value: Value?) {
        contents = Mutex(Contents(value: value))
    }

    /// The value; a write here tells nobody.
    var value: Value {
        get {
            guard let value = contents.withLock({ $0.value }) else {
                preconditionFailure("a @Published \(Value.self) was read before its initialiser gave it a value")
            }
            return value
        }
        set {
            // The old value is freed after the lock: its own end may come back here.
            let old: Value? = contents.withLock { contents in
                let old = contents.value
                contents.value = newValue
                return old
            }
            _ = old
        }
    }

    /// Tells the object's subscribers, if the field is connected to a living object.
    func announce() {
        contents.withLock { $0.link }?.send()
    }

    /// The same for a field whose object is at hand.
    func announce(in owner: some ObservableObject) {
        connectIfSetUp(owner)
        announce()
    }

    /// Connects a field that `setupPublished()` did not see, once it has run.
    func connectIfSetUp(_ owner: some ObservableObject) {
        guard contents.withLock({ $0.link == nil }), owner.objectWillChange.isSetUp else { return }
        connect(PublishedLink(owner))
    }
}

/// The storage of a field of any type.
protocol AnyPublishedStorage: AnyObject, Sendable {
    /// Ties the field to an object.
    func connect(_ link: PublishedLink)
}

extension PublishedStorage: AnyPublishedStorage {
    func connect(_ link: PublishedLink) {
        let old = contents.withLock { contents in
            let old = contents.link
            contents.link = link
            return old
        }
        _ = old
    }
}
