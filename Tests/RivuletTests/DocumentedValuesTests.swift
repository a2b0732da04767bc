// Owns the samples of Documentation/Stores.md that need the complete Rivulet package, compiled and run.

import Foundation
import Rivulet
import Testing

// DocumentationTests checks that this file or DocumentedStoresTests has every sample of that page, line by line.

struct Preferences {
    @StoredValue(key: "theme") var theme = "light"
    @SecurelyStoredValue<String>(key: "token", service: "mail") var token
}

@Suite struct DocumentedValuesTests {
    @Test func `properties need only their keys, and are opened at their first use`() {
        let preferences = Preferences()
        #expect(preferences.$theme.defaultValue == "light" && preferences.$theme.key == "theme")
        #expect(preferences.$token.service == "mail" && preferences.$token.group == nil)
    }

    @Test func `a secret in a storage is sealed with the keys of the server's options`() async throws {
        let storage = MemoryItemStorage { 0 }
        let options = ServerOptions(secretKey: SecretKey())
        try await Self.secret(in: storage, options).set("a")
        #expect(Self.secret(in: storage, options).wrappedValue == "a")
        #expect(Self.secret(in: storage, ServerOptions(secretKey: SecretKey())).wrappedValue == nil)
    }

    private static func secret(in storage: any ItemStorage, _ options: ServerOptions) -> SecurelyStoredValue<String> {
        let secrets = storage.collection("secrets")
        let token = SecurelyStoredValue<String>(key: "token", storage: secrets, keys: options.sealingKeys)
        return token
    }

    private static func kept(in storage: any ItemStorage) throws -> SecurelyStoredValue<String> {
        let options = ServerOptions(secretKey: try SecretKey(keptIn: "data"))
        let secrets = storage.collection("secrets")
        let token = SecurelyStoredValue<String>(key: "token", storage: secrets, keys: options.sealingKeys)
        return token
    }
}
