// Part of Rivulet. See README.md for the architecture.
// Owns a published field's value, its tie to the object, and what it was when a session last looked.

import RivuletJSON
import Synchronization

/// Where a field's value is kept.
final class PublishedStorage<Value: Sendable>: Sendable {
    private struct Contents {
        /// Nil only until the enclosing initialiser has given the declared value, before any other code sees the field.
        var value: Value?
        var link: PublishedLink?
        var isTracked = false
        /// The value before the first write since a tracked field was last asked; nil: there was none.
        var before: Value?
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
                if contents.isTracked, contents.before == nil { contents.before = old }
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

    /// Keeps from now on what the value was before the first write, until ``takeChange()`` is called.
    func track()

    /// Whether there was a write since ``takeChange()`` was last called, or since tracking began.
    var isWritten: Bool { get }

    /// What the value was and is, if it was written and differs.
    func takeChange() -> PublishedChange?

    /// The value as it is.
    var current: PublishedValue { get }
    /// The shape of the values in JSON; nil: they have none.
    var jsonSchema: JSONSchema? { get }
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

    func track() {
        contents.withLock { $0.isTracked = true }
    }

    var isWritten: Bool { contents.withLock { $0.before != nil } }

    func takeChange() -> PublishedChange? {
        let (before, now) = contents.withLock { contents in
            let before = contents.before
            contents.before = nil
            return (before, contents.value)
        }
        guard let before, let now else { return nil }
        let coder = PublishedCoder<Value>()
        guard !coder.areEqual(before, now) else { return nil }
        return PublishedChange(before: coder.value(before), now: coder.value(now))
    }

    var current: PublishedValue { PublishedCoder().value(value) }

    var jsonSchema: JSONSchema? { PublishedCoder<Value>().jsonSchema }
}
