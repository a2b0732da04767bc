import Synchronization

/// The storage of a field's value.
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

    /// The value; a write here notifies no subscribers.
    var value: Value {
        get {
            guard let value = contents.withLock({ $0.value }) else {
                preconditionFailure("a @Published \(Value.self) was read before its initialiser gave it a value")
            }
            return value
        }
        set {
            // The old value is freed outside of the lock, because its deinitialiser may use this field.
            let old: Value? = contents.withLock { contents in
                let old = contents.value
                contents.value = newValue
                return old
            }
            _ = old
        }
    }

    /// Notifies the object's subscribers, if the field is connected to a living object.
    func announce() {
        contents.withLock { $0.link }?.send()
    }

    /// Notifies the owner's subscribers, and connects the field to the owner first if needed.
    func announce(in owner: some ObservableObject) {
        connectIfSetUp(owner)
        announce()
    }

    /// Connects a field that `setupPublished()` did not see, if that function has run.
    func connectIfSetUp(_ owner: some ObservableObject) {
        guard contents.withLock({ $0.link == nil }), owner.objectWillChange.isSetUp else { return }
        connect(PublishedLink(owner))
    }
}

/// The storage of a field of any type.
protocol AnyPublishedStorage: AnyObject, Sendable {
    /// Connects the field to an object.
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
