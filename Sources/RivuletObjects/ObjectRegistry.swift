import Synchronization

/// What views of one session are given, in the place of SwiftUI's environment: `appDispatch` and an object factory.
///
/// `Event` is the type of the events; the engine names the registry for any `AppEvent` `ViewRegistry`. One registry per session. It is a
/// factory itself, and may be passed on as one. Source: <Tests/Rows/Systems.md#d-28>.
public final class ObjectRegistry<Event>: StateObjectFactory {
    /// Sends an event to the session; does nothing unless the initialiser was given something else.
    public let appDispatch: @Sendable (Event) -> Void
    /// What is asked for types that nobody has registered; nil by default.
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

    /// Says how objects of a type are made, best by a forwarder's `getStateObject()`; a later call for the same type replaces it.
    public func register<Object: ObservableObject>(
        _ type: Object.Type = Object.self,
        _ make: @escaping @Sendable () -> Object
    ) {
        let replaced = makers.withLock { $0.updateValue(make, forKey: ObjectIdentifier(type)) }
        _ = replaced
    }

    /// A new object by what was registered for exactly this type, else by the factory; nil for a type that neither knows.
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
    /// A new object that follows the state; nil for a type that the factory does not know.
    func makeStateObject<T>() -> T?
}
