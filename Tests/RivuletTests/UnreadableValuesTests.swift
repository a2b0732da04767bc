// Checks that no value is stored that could not be read after a restart.

import Rivulet
import Testing

@ObservableState
struct Draft: Equatable, Sendable {
    var text = ""
    @Transient var isOpen = false
}

@ObservableState
struct Desk<Held: ObservableState & Equatable & Sendable>: Equatable, Sendable {
    var drafts: Keyed<Sheet> = []
    @Transient @Replaceable var held: Held

    init(held: Held) { self.held = held }
}

@ObservableState
struct Sheet: Identifiable, Equatable, Sendable {
    var id = ""
    var number = 0
}

@Suite struct UnreadableValuesTests {
    private let storage = MemoryItemStorage { 0 }
    private var values: ItemCollection { storage.collection("values") }

    @Test func `E-19: a value with a transient field without an initial value is refused when it is set`() async throws
    {
        let desk = StoredValue(key: "desk", default: Desk(held: Draft()), storage: values)
        let refusal = StoreError.unreadable(type: "Desk<Draft>", path: "/held")
        let error = await #expect(throws: refusal) { try await desk.set(Desk(held: Draft(text: "a"))) }
        #expect(error?.description.contains("a Desk<Draft> could not be read again (/held)") == true)
        #expect(desk.wrappedValue == Desk(held: Draft()))
        #expect(try await values.contents().items.isEmpty)
    }

    @Test func `E-19: a transient field with an initial value has this value after a restart`() async throws {
        let draft = StoredValue(key: "draft", default: Draft(), storage: values)
        try await draft.set(Draft(text: "a", isOpen: true))
        #expect(StoredValue(key: "draft", default: Draft(), storage: values).wrappedValue == Draft(text: "a"))
    }

    @Test func `E-22: the error of a refused secret names only its type`() async throws {
        let keys = SealingKeys(SecretKey())
        let secret = SecurelyStoredValue<[String: Desk<Draft>]>(key: "desks", storage: values, keys: keys)
        await #expect(throws: StoreError.unreadable(type: "Dictionary<String, Desk<Draft>>", path: "/*/held")) {
            try await secret.set(["password": Desk(held: Draft())])
        }
    }

    @Test func `E-30: an object with an unreadable type is refused, also within another object`() async throws {
        let objects = ObjectStorage<[Desk<Draft>]>(storage: values)
        await #expect(throws: StoreError.unreadable(type: "Array<Desk<Draft>>", path: "/*/held")) {
            try await objects.store([], forKey: CacheKey("a"))
        }
        try await ObjectStorage<Draft>(storage: values).store(Draft(), forKey: CacheKey("b"))
    }
}
