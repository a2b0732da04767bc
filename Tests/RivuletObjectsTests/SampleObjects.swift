// Owns the objects that the tests of this module observe. The first ones are the samples of the Raven document.

import RivuletObjects
import Synchronization

final class Counter: ObservableObject {
    @Published var count: Int = 0
    @Published var name: String = "Counter"

    init() {
        setupPublished()
    }

    func increment() {
        count += 1
    }
}

/// An object that notifies by an explicit send.
///
/// `init` connects nothing, because there is no published field.
final class DataStore: ObservableObject {
    private let stored = Mutex<[String]>([])

    var items: [String] {
        get { stored.withLock { $0 } }
        set {
            objectWillChange.send()
            stored.withLock { $0 = newValue }
        }
    }

    init() {
        setupPublished()
    }
}

final class TodoItem: ObservableObject {
    @Published var title: String
    @Published var isDone = false

    init(title: String) {
        self.title = title
        setupPublished()
    }
}

final class TodoList: ObservableObject {
    @Published var items: [TodoItem] = []
    @Published var labels: [String: Int] = ["work": 1]

    init() {
        setupPublished()
    }
}

/// An object with an initialiser that assigns fields before and after all fields have a value.
final class Settings: ObservableObject {
    @Published var theme: String
    @Published var size: Int = 12
    @Published var note: String?

    init(theme: String, size: Int, whenInitialized: (Settings) -> Void = { _ in }) {
        self.size = 1
        self.size = size
        self.theme = theme
        self.size += 1
        whenInitialized(self)
        setupPublished()
    }
}

/// An object that never connects its fields.
final class Silent: ObservableObject {
    @Published var count: Int = 0
}

class Base: ObservableObject, @unchecked Sendable {
    @Published var base: Int = 0
}

class Derived: Base, @unchecked Sendable {
    @Published var derived: Int = 0

    override init() {
        super.init()
        setupPublished()
    }
}

/// An object that has no children in mirrors.
final class Opaque: ObservableObject, CustomReflectable {
    @Published var hidden: Int = 0

    var customMirror: Mirror { Mirror(self, children: [:]) }

    init() {
        setupPublished()
    }
}

/// An object with a publisher of its own.
final class OwnPublisher: ObservableObject {
    let objectWillChange = ObservableObjectPublisher()
    @Published var count: Int = 0

    init() {
        setupPublished()
    }
}

@MainActor
final class Screen: ObservableObject {
    @Published var title: String = ""

    init() {
        setupPublished()
    }
}

/// Records entries from any thread.
final class Log<Entry: Sendable>: Sendable {
    private let stored = Mutex<[Entry]>([])

    var entries: [Entry] { stored.withLock { $0 } }

    func add(_ entry: Entry) {
        stored.withLock { $0.append(entry) }
    }
}

extension ObservableObject {
    /// Counts the notifications of this object from now on.
    func counted() -> Log<Void> {
        let log = Log<Void>()
        objectWillChange.subscribe { log.add(()) }
        return log
    }
}
