// Tests stored values, with a restart after each write.

import InMemoryLogging
import Logging
import RivuletObjects
import StoreFixture
import Synchronization
import Testing

@testable import RivuletStores

@Suite struct StoredValueTests {
    private let storage = MemoryItemStorage { 7 }
    private var values: ItemCollection { storage.collection("values") }

    /// The value under the same key, as another process would open it.
    private func stored<Item: Codable & Sendable>(_ key: String, _ defaultValue: Item) -> StoredValue<Item> {
        StoredValue(key: key, default: defaultValue, storage: values)
    }

    private func document(_ key: String) async throws -> String? {
        let items = try await values.contents().items
        return items.first { $0.key == key }.map { String(decoding: $0.document, as: UTF8.self) }
    }

    @Test func `E-18: a value is its default until it is set`() async throws {
        let theme = stored("theme", "light")
        #expect(theme.wrappedValue == "light")
        try await theme.set("dark")
        #expect(theme.wrappedValue == "dark")
        #expect(stored("theme", "light").wrappedValue == "dark")
    }

    @Test func `E-18: a property is read-only, and its projected value changes it`() {
        struct Preferences {
            @StoredValue var hasHapticsEnabled: Bool

            init(_ storage: ItemCollection) {
                _hasHapticsEnabled = StoredValue(wrappedValue: false, key: "haptics", storage: storage)
            }
        }
        let preferences = Preferences(values)
        preferences.$hasHapticsEnabled.set(true)
        #expect(preferences.hasHapticsEnabled)
        preferences.$hasHapticsEnabled.binding.wrappedValue = false
        #expect(!preferences.hasHapticsEnabled)
        #expect(Preferences(values).$hasHapticsEnabled.binding.wrappedValue == false)
    }

    @Test func `E-18: a stream begins with the value and has every later value, also equal values`() async throws {
        let count = stored("count", 1)
        var values = count.values.makeAsyncIterator()
        #expect(await values.next() == 1)
        for number in [2, 2, 3] { try await count.set(number) }
        try await count.reset()
        #expect(await values.next() == 2)
        #expect(await values.next() == 2)
        #expect(await values.next() == 3)
        #expect(await values.next() == 1)
        var late = count.values.makeAsyncIterator()
        #expect(await late.next() == 1)
    }

    @Test func `E-18: a reader far behind gets the newest values`() async throws {
        let count = stored("count", 0)
        let values = count.values
        for number in 1...2_000 { try await count.set(number) }
        var iterator = values.makeAsyncIterator()
        let first = try #require(await iterator.next())
        #expect(first == 2_000 - 1_023)
        for number in (first + 1)...2_000 { #expect(await iterator.next() == number) }
    }

    @Test func `E-19: the document is an object with the value, and a reset writes the default`() async throws {
        let theme = stored("theme", "light")
        try await theme.set("dark")
        #expect(try await document("theme") == #"{"value":"dark"}"#)
        try await theme.reset()
        #expect(try await document("theme") == #"{"value":"light"}"#)
    }

    @Test func `E-19: nil is a value too`() async throws {
        let opened = stored("opened", Int?.some(5))
        try await opened.set(nil)
        #expect(try await document("opened") == #"{"value":null}"#)
        #expect(stored("opened", Int?.some(5)).wrappedValue == nil)
    }

    @Test(arguments: [#"{"value":"text"}"#, "{}", "[1]", #"{"value":1"#, ""])
    func `E-19: an unreadable document is logged, read as the default, and overwritten by a set`(
        text: String
    ) async throws {
        try await values.commit([.put(key: "count", document: Array(text.utf8))])
        let log = InMemoryLogHandler()
        let count = StoredValue(key: "count", default: 4, storage: values, logger: Logger(label: "test") { _ in log })
        #expect(count.wrappedValue == 4)
        #expect(log.entries.map(\.level) == [.error])
        #expect(try await document("count") == text)
        try await count.set(5)
        #expect(stored("count", 4).wrappedValue == 5)
    }

    @Test func `E-20: an instance reads its document once`() async throws {
        let (first, second) = (stored("theme", "light"), stored("theme", "light"))
        #expect(second.wrappedValue == "light")
        try await first.set("dark")
        #expect(second.wrappedValue == "light")
    }

    @Test func `E-21: a Boolean toggles, also in a hundred concurrent calls`() async throws {
        let isOn = stored("isOn", false)
        try await isOn.toggle()
        #expect(isOn.wrappedValue)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<101 { group.addTask { try await isOn.toggle() } }
            try await group.waitForAll()
        }
        #expect(stored("isOn", true).wrappedValue == false)
    }

    @Test func `E-21: arrays append, toggle presence and replace the first match`() async throws {
        let recent = stored("recent", ["a"])
        try await recent.append("b")
        try await recent.append("a")
        #expect(recent.wrappedValue == ["a", "b", "a"])
        #expect(try await recent.replace("a", with: "c"))
        #expect(recent.wrappedValue == ["c", "b", "a"])
        var values = recent.values.makeAsyncIterator()
        _ = await values.next()
        #expect(try await recent.replace("x", with: "y") == false)
        try await recent.togglePresence("b")
        try await recent.togglePresence("z")
        #expect(await values.next() == ["c", "a"])
        #expect(stored("recent", [""]).wrappedValue == ["c", "a", "z"])
    }

    @Test func `E-21: dictionaries update one key, and nil removes it`() async throws {
        let scores = stored("scores", ["a": 1])
        try await scores.update(key: "b", value: 2)
        try await scores.update(key: "a", value: nil)
        #expect(stored("scores", [:]).wrappedValue == ["b": 2])
    }

    @Test func `E-21: a part is set at its key path`() async throws {
        struct Settings: Codable, Sendable, Equatable {
            var isDark = false
            var size = 12
        }
        let settings = stored("settings", Settings())
        try await settings.set(\.size, to: 14)
        try await settings.set(\.isDark, to: true)
        #expect(stored("settings", Settings()).wrappedValue == Settings(isDark: true, size: 14))
    }

    /// Sets a value in a function that does not suspend, which can only call the blocking setter.
    private static func set(_ count: StoredValue<Int>, _ value: Int) { count.set(value) }

    @Test func `E-21: functions that do not suspend have the same short forms`() {
        let isOn = stored("isOn", false)
        isOn.toggle()
        #expect(stored("isOn", false).wrappedValue)
        isOn.reset()
        #expect(!stored("isOn", true).wrappedValue)
        let recent = stored("recent", ["a"])
        recent.append("b")
        recent.togglePresence("a")
        #expect(recent.replace("b", with: "c"))
        #expect(!recent.replace("b", with: "c"))
        #expect(stored("recent", [""]).wrappedValue == ["c"])
        let scores = stored("scores", ["a": 1])
        scores.update(key: "b", value: 2)
        #expect(stored("scores", [:]).wrappedValue == ["a": 1, "b": 2])
        let pair = stored("pair", [1, 2])
        pair.set(\.[1], to: 3)
        #expect(stored("pair", []).wrappedValue == [1, 3])
    }

    @Test func `a hundred concurrent appends are all stored, in the order of the stream's values`() async throws {
        let numbers = stored("numbers", [Int]())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 { group.addTask { try await numbers.append(number) } }
            try await group.waitForAll()
        }
        #expect(stored("numbers", [Int]()).wrappedValue.sorted() == Array(0..<100))
    }

    @Test func `changes that wait for storage happen in their order, and changes above the limit are refused`() {
        let storage = ScriptedItemStorage()
        storage.hold()
        let numbers = StoredValue(key: "numbers", default: 1, storage: storage.collection("values"))
        let refused = Mutex<[Int]>([])
        for number in 0..<5_000 {
            numbers.box.change({ ($0 * 31 + number) % 1_000_003 }) { outcome in
                if case .failure = outcome { refused.withLock { $0.append(number) } }
            }
        }
        // One change is being written, and the others wait for it.
        let taken = 1 + ValueBox<Int>.changesWaitingMax
        #expect(refused.withLock { $0 } == Array(taken..<5_000))
        storage.release()
        #expect(numbers.wrappedValue == (0..<taken).reduce(1) { ($0 * 31 + $1) % 1_000_003 })
    }

    @Test func `a value that JSON cannot carry is refused, and nothing changes`() async throws {
        let ratio = stored("ratio", 0.5)
        await #expect(throws: StoreError.unrepresentable(key: "ratio")) { try await ratio.set(.nan) }
        #expect(ratio.wrappedValue == 0.5)
        #expect(try await document("ratio") == nil)
    }

    @Test func `a write that storage refuses changes neither the value nor the stream`() async throws {
        let storage = ScriptedItemStorage()
        let count = StoredValue(key: "count", default: 1, storage: storage.collection("values"))
        var values = count.values.makeAsyncIterator()
        #expect(await values.next() == 1)
        for _ in 0..<2 { storage.failCommit(.full(detail: "no space")) }
        await #expect(throws: ItemStorageError.full(detail: "no space")) { try await count.set(2) }
        Self.set(count, 3)
        #expect(count.wrappedValue == 1)
        try await count.set(4)
        #expect(await values.next() == 4)
    }

    @Test func `the value is its default until its storage can be read`() async throws {
        let storage = ScriptedItemStorage()
        try await storage.collection("values").commit([.put(key: "count", document: Array(#"{"value":9}"#.utf8))])
        storage.failRead(.unavailable(detail: "not now"))
        let count = StoredValue(key: "count", default: 1, storage: storage.collection("values"))
        #expect(count.wrappedValue == 1)
        #expect(count.wrappedValue == 9)
    }
}
