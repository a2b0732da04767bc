// Owns the tests of the data that views get: dispatch, and objects by their type.

import RivuletObjects
import Testing

@Suite struct ViewRegistryTests {
    private struct Tap: Sendable {}

    private typealias ViewRegistry = ObjectRegistry<Tap>

    private struct CounterFactory: StateObjectFactory {
        func makeStateObject<T>() -> T? { T.self == Counter.self ? Counter() as? T : nil }
    }

    @Test func `D-28: a registry without a dispatch and a factory sends no event and makes no object`() {
        let registry = ViewRegistry()
        registry.appDispatch(Tap())
        let counter: Counter? = registry.makeStateObject()
        #expect(counter == nil)
        #expect(registry.objectFactory == nil)
    }

    @Test func `D-28: events go to the session, and objects are made by their type`() {
        let log = Log<String>()
        let registry = ViewRegistry(appDispatch: { log.add("\(type(of: $0))") })
        registry.appDispatch(Tap())
        #expect(log.entries == ["Tap"])
        registry.register { Counter() }
        let (first, second): (Counter?, Counter?) = (registry.makeStateObject(), registry.makeStateObject())
        #expect(first != nil && first !== second)
        let list: TodoList? = registry.makeStateObject()
        #expect(list == nil)
    }

    @Test func `D-28: the factory makes an object of a type that is not registered`() {
        let registry = ViewRegistry(objectFactory: CounterFactory())
        let (counter, list): (Counter?, TodoList?) = (registry.makeStateObject(), registry.makeStateObject())
        #expect(counter != nil && list == nil)
        let named = Counter()
        registry.register { named }
        let registered: Counter? = registry.makeStateObject()
        #expect(registered === named)
    }

    @Test func `D-30: events, dispatch, factories and bindings need no engine`() {
        // This target imports only RivuletObjects. DependencyTests ensures that it does not import the engine.
        let registry = ObjectRegistry<Tap>()
        registry.appDispatch(Tap())
        #expect(makeBinding(get: { 1 }, send: { _ in }).wrappedValue == 1)
    }
}
