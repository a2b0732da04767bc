// Tests securely stored values, with a restart after each write.

import InMemoryLogging
import Logging
import RivuletObjects
import RivuletStores
import StoreFixture
import Testing

@Suite struct SecurelyStoredValueTests {
    private let storage = MemoryItemStorage { 7 }
    private var secrets: ItemCollection { storage.collection("secrets") }
    private let keys: SealingKeys

    init() throws {
        keys = SealingKeys(try #require(SealingKey(secret: Self.secret("a"))))
    }

    private static func secret(_ letter: Character) -> String.UTF8View { String(repeating: letter, count: 32).utf8 }

    /// The secret under the same key, as another process would open it.
    private func stored<Item: Codable & Sendable>(
        _ type: Item.Type,
        _ key: String = "token",
        service: KeychainService? = nil,
        group: KeychainGroup? = nil,
        keys: SealingKeys? = nil,
        logger: Logger = Logger(label: "test")
    ) -> SecurelyStoredValue<Item> {
        SecurelyStoredValue(
            key: key,
            service: service,
            group: group,
            storage: secrets,
            keys: keys ?? self.keys,
            logger: logger
        )
    }

    @Test func `E-22: a secret is nil until it is set, and exists after a restart`() async throws {
        let token = stored(String.self)
        #expect(token.wrappedValue == nil)
        try await token.set("p@ssw0rd")
        #expect(token.wrappedValue == "p@ssw0rd")
        #expect(stored(String.self).wrappedValue == "p@ssw0rd")
        try await token.remove()
        #expect(token.wrappedValue == nil)
        #expect(stored(String.self).wrappedValue == nil)
        #expect(try await secrets.contents().items.isEmpty)
    }

    @Test func `E-22: the blocking setter and remover change the secret`() throws {
        let token = stored(String.self)
        try Self.set(token, "one")
        #expect(stored(String.self).wrappedValue == "one")
        try Self.set(token, nil)
        #expect(stored(String.self).wrappedValue == nil)
    }

    private static func set(_ token: SecurelyStoredValue<String>, _ value: String?) throws { try token.set(value) }

    @Test func `a binding reads and writes the secret, and nil removes it`() throws {
        let token = stored(String.self)
        #expect(token.binding.wrappedValue == nil)
        token.binding.wrappedValue = "p@ssw0rd"
        #expect(token.binding.wrappedValue == "p@ssw0rd")
        #expect(stored(String.self).wrappedValue == "p@ssw0rd")
        token.binding.wrappedValue = nil
        #expect(stored(String.self).wrappedValue == nil)
    }

    @Test func `a failed write by a binding changes nothing, and is logged without the secret`() throws {
        let log = InMemoryLogHandler()
        let token = SecurelyStoredValue<String>(
            key: "token",
            storage: secrets,
            keys: nil,
            logger: Logger(label: "test") { _ in log }
        )
        token.binding.wrappedValue = "p@ssw0rd"
        #expect(token.wrappedValue == nil)
        #expect(log.entries.contains { $0.level == .error && "\($0.message)".contains("was not written") })
        #expect(!log.entries.contains { "\($0.message)".contains("p@ssw0rd") })
    }

    @Test func `E-22: an optional type has two kinds of nil`() async throws {
        let panda = stored(String?.self)
        #expect(panda.wrappedValue == .none)
        try await panda.set(.some(nil))
        #expect(stored(String?.self).wrappedValue == .some(nil))
    }

    @Test func `E-22: secrets with one key but different services or groups are separate`() async throws {
        let all = [
            stored(Int.self), stored(Int.self, service: "a"), stored(Int.self, group: "a"),
            stored(Int.self, service: "a", group: "a"), stored(Int.self, "a\",\"token"),
        ]
        for (number, secret) in all.enumerated() { try await secret.set(number) }
        #expect(stored(Int.self).wrappedValue == 0)
        #expect(stored(Int.self, service: "a").wrappedValue == 1)
        #expect(stored(Int.self, group: "a").wrappedValue == 2)
        #expect(stored(Int.self, service: "a", group: "a").wrappedValue == 3)
    }

    @Test func `E-22: a stream has nil for a removed secret`() async throws {
        let token = stored(String.self)
        var values = token.values.makeAsyncIterator()
        #expect(await values.next() == .some(nil))
        try await token.set("a")
        try await token.set(nil)
        try await token.remove()
        try await token.set("b")
        #expect(await values.next() == "a")
        #expect(await values.next() == .some(nil))
        #expect(await values.next() == "b")
    }

    @Test func `E-23: toggle and set of a part need a value, append and update begin with an empty one`() async throws {
        struct Account: Codable, Sendable { var name = "" }
        await #expect(throws: KeychainError.couldNotAccessKeychain) { try await stored(Bool.self, "b").toggle() }
        await #expect(throws: KeychainError.couldNotAccessKeychain) {
            try await stored(Account.self, "c").set(\.name, to: "x")
        }
        #expect(try await stored([Int].self, "d").replace(1, with: 2) == false)
        try await stored([Int].self, "d").append(1)
        #expect(try await stored([Int].self, "d").replace(1, with: 2))
        try await stored([Int].self, "d").togglePresence(3)
        #expect(stored([Int].self, "d").wrappedValue == [2, 3])
        try await stored([String: Int].self, "e").update(key: "k", value: 1)
        #expect(stored([String: Int].self, "e").wrappedValue == ["k": 1])
        try await stored(Bool.self, "b").set(false)
        try await stored(Bool.self, "b").toggle()
        #expect(stored(Bool.self, "b").wrappedValue == true)
        try await stored(Account.self, "c").set(Account())
        try await stored(Account.self, "c").set(\.name, to: "x")
        #expect(stored(Account.self, "c").wrappedValue?.name == "x")
    }

    @Test func `E-23: remove deletes a secret that cannot be opened, and without a secret does nothing`() async throws {
        try await stored(String.self).set("a")
        let document = try #require(try await secrets.contents().items.first)
        try await secrets.commit([.put(key: document.key, document: [0, 1, 2])])
        let token = stored(String.self)
        #expect(token.wrappedValue == nil)
        #expect(try await secrets.contents().items.count == 1)
        try await token.remove()
        #expect(try await secrets.contents().items.isEmpty)
        try await token.remove()
    }

    @Test func `E-23: set replaces a secret that cannot be opened`() async throws {
        try await stored(String.self).set("a")
        let document = try #require(try await secrets.contents().items.first)
        try await secrets.commit([.put(key: document.key, document: document.document.reversed())])
        try await stored(String.self).set("b")
        #expect(stored(String.self).wrappedValue == "b")
    }

    @Test func `E-24: without a sealing key a value cannot be set, and the error has the remedy`() async throws {
        let token = SecurelyStoredValue<String>(key: "token", storage: secrets, keys: nil)
        let error = await #expect(throws: KeychainError.missingEntitlement) { try await token.set("a") }
        #expect(error?.description.contains("RIVULET_SECRET_KEY") == true)
        #expect(try await secrets.contents().items.isEmpty)
    }

    @Test func `E-24: value() has different errors for a missing secret and one that cannot be opened`() async throws {
        await #expect(throws: KeychainError.itemNotFound) { try await stored(String.self).value() }
        #expect(throws: KeychainError.itemNotFound) { try Self.value(of: stored(String.self)) }
        try await stored(String.self).set("a")
        #expect(try await stored(String.self).value() == "a")
        #expect(try Self.value(of: stored(String.self)) == "a")
        let other = SealingKeys(try #require(SealingKey(secret: Self.secret("b"))))
        await #expect(throws: KeychainError.couldNotAccessKeychain) {
            try await stored(String.self, keys: other).value()
        }
        let keyless = SecurelyStoredValue<String>(key: "token", storage: secrets, keys: nil)
        await #expect(throws: KeychainError.missingEntitlement) { try await keyless.value() }
    }

    private static func value(of token: SecurelyStoredValue<String>) throws -> String { try token.value() }

    @Test func `E-24: an edit of a part does not replace a secret that cannot be opened`() async throws {
        try await stored([Int].self, "list").set([1])
        try await stored([String: Int].self, "map").set(["a": 1])
        let before = try await secrets.contents().items.map(\.document)
        let other = SealingKeys(try #require(SealingKey(secret: Self.secret("b"))))
        let list = stored([Int].self, "list", keys: other)
        await #expect(throws: KeychainError.couldNotAccessKeychain) { try await list.append(2) }
        await #expect(throws: KeychainError.couldNotAccessKeychain) { try await list.togglePresence(2) }
        await #expect(throws: KeychainError.couldNotAccessKeychain) { try await list.replace(1, with: 2) }
        await #expect(throws: KeychainError.couldNotAccessKeychain) {
            try await stored([String: Int].self, "map", keys: other).update(key: "b", value: 2)
        }
        #expect(try await secrets.contents().items.map(\.document) == before)
        try await list.set([3])
        try await list.append(4)
        #expect(stored([Int].self, "list", keys: other).wrappedValue == [3, 4])
    }

    @Test func `a sealed document does not show the value, and opens under its own key only`() async throws {
        try await stored(String.self).set("plaintext-of-the-secret")
        let items = try await secrets.contents().items
        let document = try #require(items.first?.document)
        #expect(!String(decoding: document, as: UTF8.self).contains("plaintext"))
        try await stored(String.self, "other").set("x")
        let other = try #require(try await secrets.contents().items.last?.key)
        try await secrets.commit([.put(key: other, document: document)])
        #expect(stored(String.self, "other").wrappedValue == nil)
        #expect(stored(String.self).wrappedValue == "plaintext-of-the-secret")
    }

    @Test func `one value sealed twice gives two documents`() async throws {
        var documents: Set<[UInt8]> = []
        for _ in 0..<2 {
            try await stored(String.self).set("same")
            documents.insert(try #require(try await secrets.contents().items.first?.document))
        }
        #expect(documents.count == 2)
    }

    @Test func `an older sealing key opens a secret until the secret is resealed`() async throws {
        let new = try #require(SealingKey(secret: Self.secret("b")))
        try await stored(String.self).set("a")
        #expect(stored(String.self, keys: SealingKeys(new)).wrappedValue == nil)
        let rotating = stored(String.self, keys: SealingKeys(new, older: [keys.current]))
        #expect(rotating.wrappedValue == "a")
        #expect(try await rotating.reseal())
        #expect(stored(String.self, keys: SealingKeys(new)).wrappedValue == "a")
    }

    @Test func `reseal writes only a secret that is sealed with an older key`() async throws {
        let storage = ScriptedItemStorage()
        func token(_ keys: SealingKeys?) -> SecurelyStoredValue<String> {
            SecurelyStoredValue(key: "token", storage: storage.collection("secrets"), keys: keys)
        }
        let new = try #require(SealingKey(secret: Self.secret("b")))
        let both = SealingKeys(new, older: [keys.current])
        #expect(try await !token(both).reseal())
        #expect(storage.commits.isEmpty)
        try await token(keys).set("a")
        #expect(try await !token(keys).reseal())
        #expect(storage.commits.count == 1)
        let rotating = token(both)
        storage.failCommit(.full(detail: "no space"))
        await #expect(throws: ItemStorageError.full(detail: "no space")) { try await rotating.reseal() }
        #expect(try Self.reseal(rotating))
        #expect(try await !rotating.reseal())
        #expect(try await !token(both).reseal())
        #expect(storage.commits.count == 3)
        await #expect(throws: KeychainError.couldNotAccessKeychain) { try await token(keys).reseal() }
        await #expect(throws: KeychainError.missingEntitlement) { try await token(nil).reseal() }
        #expect(storage.commits.count == 3)
    }

    private static func reseal(_ token: SecurelyStoredValue<String>) throws -> Bool { try token.reseal() }

    @Test func `the log reports a secret of another type without its value`() async throws {
        try await stored(String.self).set("hunter2")
        let log = InMemoryLogHandler()
        let number = stored(Int.self, logger: Logger(label: "test") { _ in log })
        #expect(number.wrappedValue == nil)
        #expect(log.entries.count == 1)
        #expect(!"\(log.entries)".contains("hunter2"))
        #expect(log.entries.contains { "\($0.message)".hasSuffix("the sealed value is not of the type Int") })
    }

    @Test func `the log names the remedy for a secret that another key has sealed`() async throws {
        try await stored(String.self).set("a")
        let log = InMemoryLogHandler()
        let other = SealingKeys(try #require(SealingKey(secret: Self.secret("b"))))
        let token = stored(String.self, keys: other, logger: Logger(label: "test") { _ in log })
        #expect(token.wrappedValue == nil)
        #expect(log.entries.contains { "\($0.message)".hasSuffix("give that key as an older key") })
    }

    @Test func `a secret of fewer than 32 bytes makes no key, and a key's description has no bytes of it`() throws {
        #expect(SealingKey(secret: String(repeating: "a", count: 31).utf8) == nil)
        let key = try #require(SealingKey(secret: Self.secret("a")))
        #expect("\(key)" == "SealingKey")
        #expect(Mirror(reflecting: key).children.isEmpty)
    }
}
