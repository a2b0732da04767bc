import Synchronization

/// The dependencies of one session's views, in place of SwiftUI's environment: `appDispatch` and an object factory.
///
/// `Event` is the type of the events. In the engine, `ViewRegistry` is the registry of `any AppEvent`. Each
/// session has a registry of its own. The registry is itself a factory, and may be used as an `objectFactory`. Source:
/// <Tests/Rows/Systems.md#d-28>.
public final class ObjectRegistry<Event>: StateObjectFactory {
    /// Sends an event to the session; does nothing by default.
    public let appDispatch: @Sendable (Event) -> Void
    /// The factory for types that are not registered; nil by default.
    public let objectFactory: (any StateObjectFactory)?

    private let makers = Mutex<[ObjectIdentifier: @Sendable () -> any ObservableObject]>([:])

    /// Makes a registry for one session.
    public init(
        appDispatch: @escaping @Sendable (Event) -> Void = { _ in },
        objectFactory: (any StateObjectFactory)? = nil
    ) {
        self.appDispatch = appDispatch
        self.objectFactory = objectFactory
    }

    /// Registers the function that makes objects of a type; a later call for the same type replaces the function.
    ///
    /// The function should be a forwarder's `getStateObject()`.
    public func register<Object: ObservableObject>(
        _ type: Object.Type = Object.self,
        _ make: @escaping @Sendable () -> Object
    ) {
        let replaced = makers.withLock { $0.updateValue(make, forKey: ObjectIdentifier(type)) }
        _ = replaced
    }

    /// Returns a new object of a type; nil for an unknown type.
    ///
    /// The function that is registered for exactly this type makes the object. Without one, `objectFactory` makes it.
    public func makeStateObject<T>() -> T? {
        guard let make = makers.withLock({ $0[ObjectIdentifier(T.self)] }) else {
            return objectFactory?.makeStateObject()
        }
        return make() as? T
    }
}

/// Makes the objects that views show.
///
/// Source: <Tests/Rows/Systems.md#d-28>.
public protocol StateObjectFactory: Sendable {
    /// Returns a new object that follows the state; nil for a type that the factory does not know.
    func makeStateObject<T>() -> T?
}
