import Synchronization

/// Owns an object that is made once, at the first access, and observed from then on.
///
/// Copies share the object. Source: <Tests/Rows/Systems.md#c-16>.
@propertyWrapper
public struct StateObject<ObjectType: ObservableObject>: Sendable {
    private let storage: LazyObject<ObjectType>

    /// Keeps the expression that makes the object; the expression must not use this wrapper.
    public init(wrappedValue: @autoclosure @escaping @Sendable () -> ObjectType) {
        storage = LazyObject(wrappedValue)
    }

    /// The object.
    public var wrappedValue: ObjectType { storage.watch.object }

    /// The object (`wrappedValue`), and bindings to its fields.
    public var projectedValue: ObjectBindings<ObjectType> { ObjectBindings(wrappedValue: wrappedValue) }

    /// Sets the function to call when the object is about to change; nil removes the function.
    ///
    /// This call makes the object, if no access has made it yet.
    ///
    /// The function is called on the thread of the change. Only the last function that was set is called.
    public func onUpdate(_ action: (@Sendable () -> Void)?) {
        storage.watch.setAction(action)
    }
}

/// The object, or the function that makes it.
private final class LazyObject<ObjectType: ObservableObject>: Sendable {
    private enum Contents {
        case waiting(@Sendable () -> ObjectType)
        case made(ObjectWatch<ObjectType>)
    }

    private let contents: Mutex<Contents>

    init(_ make: @escaping @Sendable () -> ObjectType) {
        contents = Mutex(.waiting(make))
    }

    /// The object is made under the lock, so that two threads that arrive at once get the same object.
    var watch: ObjectWatch<ObjectType> {
        contents.withLock { contents in
            switch contents {
            case .made(let watch): return watch
            case .waiting(let make):
                let watch = ObjectWatch(make())
                contents = .made(watch)
                return watch
            }
        }
    }
}
