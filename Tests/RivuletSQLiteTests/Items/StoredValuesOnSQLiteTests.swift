// Tests stored values on the engine of the sessions, through restarts.

import Foundation
import RivuletSQLite
import RivuletStores
import Testing

@Suite struct StoredValuesOnSQLiteTests {
    @Test func `a value that is read before the engine has started starts it`() throws {
        let folder = try TemporaryFolder()
        do {
            let engine = SQLiteStorageEngine(folder: folder.path)
            defer { engine.close() }
            let theme = StoredValue(key: "theme", default: "light", storage: engine.collection("values"))
            #expect(theme.wrappedValue == "light")
            theme.set("dark")
        }
        let engine = SQLiteStorageEngine(folder: folder.path)
        defer { engine.close() }
        let theme = StoredValue(key: "theme", default: "light", storage: engine.collection("values"))
        #expect(theme.wrappedValue == "dark")
        #expect(throws: Never.self) { try engine.start() }
    }

    @Test func `a value of an engine that is closed is its default, and cannot be set`() async throws {
        let folder = try TemporaryFolder()
        let engine = SQLiteStorageEngine(folder: folder.path)
        engine.close()
        let theme = StoredValue(key: "theme", default: "light", storage: engine.collection("values"))
        await #expect(throws: ItemStorageError.closed) { try await theme.set("dark") }
        #expect(Self.value(of: theme) == "light")
    }

    private static func value(of theme: StoredValue<String>) -> String { theme.wrappedValue }

    @Test func `no part of a secret is in the folder`() async throws {
        let folder = try TemporaryFolder()
        let engine = SQLiteStorageEngine(folder: folder.path)
        let key = try #require(SealingKey(secret: String(repeating: "k", count: 32).utf8))
        let token = SecurelyStoredValue<String>(
            key: "token",
            storage: engine.collection("secrets"),
            keys: SealingKeys(key)
        )
        try engine.start()
        try await token.set("plaintext-of-the-secret")
        #expect(token.wrappedValue == "plaintext-of-the-secret")
        engine.close()
        let stored = try Self.bytes(in: folder)
        #expect(stored.range(of: Data("plaintext-of-the-secret".utf8)) == nil)
        #expect(stored.range(of: Data("token".utf8)) != nil)
    }

    /// All files of a folder, one after the other.
    private static func bytes(in folder: TemporaryFolder) throws -> Data {
        let files = FileManager.default
        return try files.subpathsOfDirectory(atPath: folder.path).reduce(into: Data()) { bytes, name in
            bytes += files.contents(atPath: folder.path + "/" + name) ?? Data()
        }
    }
}
