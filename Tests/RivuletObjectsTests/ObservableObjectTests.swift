// Owns the tests of objects: their publishers, the connection of their fields, and their ends.

import RivuletObjects
import Testing

@Suite struct ObservableObjectTests {
    @Test func `C-04: an object has one publisher, at each access the same`() {
        let (counter, other) = (Counter(), Counter())
        #expect(counter.objectWillChange === counter.objectWillChange)
        #expect(counter.objectWillChange !== other.objectWillChange)
        let own = OwnPublisher()
        let log = own.counted()
        own.count = 1
        #expect(log.entries.count == 1)
    }

    @Test func `C-08: fields are connected by setupPublished, and writes before it are silent`() {
        let log = Log<Void>()
        let settings = Settings(theme: "light", size: 11) { settings in
            settings.objectWillChange.subscribe { log.add(()) }
            settings.theme = "dim"
            settings.size += 1
        }
        #expect(log.entries.isEmpty)
        #expect(settings.theme == "dim" && settings.size == 13 && settings.note == nil)
        settings.theme = "dark"
        settings.note = "x"
        #expect(log.entries.count == 2)
    }

    @Test func `C-08: fields of superclasses are connected, too`() {
        let derived = Derived()
        let log = derived.counted()
        derived.derived = 1
        derived.base = 1
        derived.$base.wrappedValue = 2
        #expect(log.entries.count == 3)
    }

    @Test func `C-08: a custom mirror hides no field from its object`() {
        let opaque = Opaque()
        let log = opaque.counted()
        opaque.hidden = 1
        opaque.hidden += 1
        opaque.$hidden.wrappedValue = 3
        #expect(log.entries.count == 3)
        let bound = Opaque()
        let boundLog = bound.counted()
        bound.$hidden.wrappedValue = 3
        #expect(boundLog.entries.count == 1)
    }

    @Test func `C-09: without setupPublished values can be read and written, and nothing is sent`() {
        let silent = Silent()
        let log = silent.counted()
        silent.count = 1
        silent.count += 1
        silent.$count.wrappedValue += 1
        #expect(silent.count == 3)
        #expect(log.entries.isEmpty)
        silent.setupPublished()
        silent.count = 4
        #expect(log.entries.count == 1)
    }

    @Test func `C-11: storage of another kind notifies by an explicit send`() {
        let store = DataStore()
        let log = store.counted()
        store.items = ["a"]
        #expect(log.entries.count == 1)
        store.objectWillChange.send()
        #expect(log.entries.count == 2)
    }

    @Test func `C-12: a change of a nested object does not notify the outer object's subscribers`() {
        let list = TodoList()
        let log = list.counted()
        list.items.append(TodoItem(title: "a"))
        #expect(log.entries.count == 1)
        let inner = list.items[0].counted()
        list.items[0].title = "b"
        #expect(inner.entries.count == 1)
        #expect(log.entries.count == 1)
        list.items[0].objectWillChange.subscribe { [weak list] in list?.objectWillChange.send() }
        list.items[0].isDone = true
        #expect(log.entries.count == 2)
    }

    @Test func `C-13: a field that outlives its object keeps its value and notifies no subscriber`() {
        let log = Log<Void>()
        func binding() -> Binding<Int> {
            let counter = Counter()
            counter.objectWillChange.subscribe { log.add(()) }
            counter.count = 7
            return counter.$count
        }
        let count = binding()
        #expect(log.entries.count == 1)
        count.wrappedValue += 1
        #expect(count.wrappedValue == 8)
        #expect(log.entries.count == 1)
    }

    @Test func `C-14: the publisher is freed with its object`() {
        weak var publisher: ObservableObjectPublisher?
        do {
            let counter = Counter()
            publisher = counter.objectWillChange
            #expect(publisher != nil)
            withExtendedLifetime(counter) {}
        }
        #expect(publisher == nil)
    }

    @Test func `C-14: publishers of objects without published fields are freed`() {
        struct Weak { weak var publisher: ObservableObjectPublisher? }
        var publishers: [Weak] = []
        for _ in 0..<50 {
            let stores = (0..<100).map { _ in DataStore() }
            publishers += stores.map { Weak(publisher: $0.objectWillChange) }
            withExtendedLifetime(stores) {}
        }
        #expect(publishers.count { $0.publisher != nil } < 1_000)
    }

    @Test(arguments: [true, false])
    func `C-14: no object gets the subscribers of a freed object at the same address`(isConnected: Bool) {
        let log = Log<Void>()
        var addresses: Set<ObjectIdentifier> = []
        func changeOne() {
            if isConnected {
                let counter = Counter()
                addresses.insert(ObjectIdentifier(counter))
                counter.objectWillChange.subscribe { log.add(()) }
                counter.count = 1
            } else {
                let store = DataStore()
                addresses.insert(ObjectIdentifier(store))
                store.objectWillChange.subscribe { log.add(()) }
                store.items = ["a"]
            }
        }
        for _ in 0..<5_000 { changeOne() }
        // The Raven library notifies 20,100 times for 200 objects.
        #expect(log.entries.count == 5_000)
        #expect(addresses.count < 5_000, "no address was used twice: the test shows nothing")
    }

    @Test func `an object that many threads change notifies at every write`() async {
        let counter = Counter()
        let log = counter.counted()
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for step in 0..<200 { counter.count = task * 1_000 + step }
                }
            }
        }
        #expect(log.entries.count == 1_600)
        #expect(counter.count % 1_000 == 199)
    }

    @Test @MainActor func `an object may belong to the main actor`() {
        let screen = Screen()
        let log = screen.counted()
        screen.title = "a"
        #expect(log.entries.count == 1)
    }
}
