import FoundationEssentials
import Synchronization

/// Observes an object, and calls a function when the object is about to change or is replaced.
///
/// The object is observed from `init` until the last copy of this value is gone; copies share one subscription.
/// Source: <Tests/Rows/Systems.md#c-15>.
@propertyWrapper
public struct ObservedObject<ObjectType: ObservableObject>: Sendable {
    private let watch: ObjectWatch<ObjectType>

    /// Begins to observe an object.
    public init(wrappedValue: ObjectType) {
        watch = ObjectWatch(wrappedValue)
    }

    /// The object; setting another object moves the subscription to it, and calls the function of ``onUpdate(_:)``
    /// once.
    public var wrappedValue: ObjectType {
        get { watch.object }
        nonmutating set { watch.replace(with: newValue) }
    }

    /// The object (`wrappedValue`), and bindings to its fields.
    public var projectedValue: ObjectBindings<ObjectType> { ObjectBindings(wrappedValue: wrappedValue) }

    /// Sets the function to call when the object is about to change or is replaced; nil removes the function.
    ///
    /// The function is called on the thread of the change. Only the last function that was set is called.
    public func onUpdate(_ action: (@Sendable () -> Void)?) {
        watch.setAction(action)
    }
}

/// One subscription to one object at a time.
final class ObjectWatch<ObjectType: ObservableObject>: Sendable {
    private struct Contents {
        var object: ObjectType
        var subscription: UUID?
        var action: (@Sendable () -> Void)?
    }

    private let contents: Mutex<Contents>

    init(_ object: ObjectType) {
        contents = Mutex(Contents(object: object))
        let subscription = subscribe(to: object)
        contents.withLock { $0.subscription = subscription }
    }

    deinit {
        let (object, subscription) = contents.withLock { ($0.object, $0.subscription) }
        if let subscription { object.objectWillChange.unsubscribe(subscription) }
    }

    var object: ObjectType { contents.withLock { $0.object } }

    func setAction(_ action: (@Sendable () -> Void)?) {
        let old = contents.withLock { contents in
            let old = contents.action
            contents.action = action
            return old
        }
        _ = old
    }

    func replace(with object: ObjectType) {
        let subscription = subscribe(to: object)
        let (old, oldSubscription) = contents.withLock { contents in
            let old = (contents.object, contents.subscription)
            contents.object = object
            contents.subscription = subscription
            return old
        }
        if let oldSubscription { old.objectWillChange.unsubscribe(oldSubscription) }
        update()
    }

    private func subscribe(to object: ObjectType) -> UUID {
        // The object's publisher must not retain its observer.
        object.objectWillChange.subscribe { [weak self] in self?.update() }
    }

    private func update() {
        contents.withLock { $0.action }?()
    }
}

/// An observed object, and a binding for each of its fields: `$settings.name` is a binding to `settings.name`.
@dynamicMemberLookup
public struct ObjectBindings<ObjectType: ObservableObject>: Sendable {
    /// The object.
    public let wrappedValue: ObjectType

    /// A binding to a field, which retains the object.
    ///
    /// A write to the binding notifies subscribers like any other write.
    public subscript<Field: Sendable>(
        dynamicMember keyPath: any ReferenceWritableKeyPath<ObjectType, Field> & Sendable
    ) -> Binding<Field> {
        let object = wrappedValue
        return Binding(get: { object[keyPath: keyPath] }, set: { object[keyPath: keyPath] = $0 })
    }
}
