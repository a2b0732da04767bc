// Checks the sources of a process's secrets, and that sealed values outlive a change of them.

import Foundation
import Rivulet
import Testing

@Suite struct SecretKeysTests {
    private static let (old, new) = (String(repeating: "old", count: 11), String(repeating: "new", count: 11))

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rivulet-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer {
            do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) }
        }
        try await body(folder)
    }

    /// True if one key opens a value that the other has sealed.
    private func isSame(_ one: SealingKeys, _ other: SealingKeys) async throws -> Bool {
        let storage = MemoryItemStorage { 0 }
        func token(_ keys: SealingKeys) -> SecurelyStoredValue<Int> {
            SecurelyStoredValue(key: "token", storage: storage.collection("secrets"), keys: keys)
        }
        try await token(one).set(1)
        return token(other).wrappedValue == 1
    }

    @Test func `a secret comes from the text, the file or the folder, in this order`() async throws {
        try await withFolder { folder in
            let path = folder + "/key"
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            let isMade = FileManager.default.createFile(
                atPath: path,
                contents: Data(Self.old.utf8),
                attributes: attributes
            )
            try #require(isMade)
            let text = try SecretKeys(keptIn: folder, environment: ["RIVULET_SECRET_KEY": Self.old])
            let file = try SecretKeys(
                keptIn: folder,
                environment: ["RIVULET_SECRET_KEY": "", "RIVULET_SECRET_KEY_FILE": path]
            )
            #expect(try await isSame(SealingKeys(text.current), SealingKeys(file.current)))
            #expect(!FileManager.default.fileExists(atPath: folder + "/secret.key"))
            let kept = try SecretKeys(keptIn: folder, environment: [:])
            #expect(try await isSame(SealingKeys(kept.current), SealingKeys(SecretKey(keptIn: folder))))
            #expect(try await !isSame(SealingKeys(kept.current), SealingKeys(text.current)))
            #expect(kept.older == nil && text.older == nil)
        }
    }

    @Test func `without a folder and a variable each process start makes a new secret`() async throws {
        let made = try SecretKeys(keptIn: nil, environment: [:])
        #expect(try await isSame(SealingKeys(made.current), SealingKeys(made.current)))
        #expect(
            try await !isSame(SealingKeys(made.current), SealingKeys(SecretKeys(keptIn: nil, environment: [:]).current))
        )
    }

    @Test(arguments: ["RIVULET_SECRET_KEY", "RIVULET_OLDER_SECRET_KEY"])
    func `a secret that is given twice, or is invalid, is refused with its name`(_ name: String) throws {
        func error(_ environment: [String: String]) -> String? {
            #expect(throws: ServerError.self) { try SecretKeys(keptIn: nil, environment: environment) }?.description
        }
        #expect(error([name: Self.old, name + "_FILE": "/key"]) == "\(name) and \(name)_FILE are both set; unset one")
        #expect(error([name: "short"])?.contains("5 bytes") == true)
        #expect(error([name + "_FILE": "/nowhere"])?.contains("/nowhere") == true)
    }

    @Test func `a server's secret and a sealing key with the same bytes are one key`() async throws {
        let key = try #require(SealingKey(secret: Self.old.utf8))
        #expect(try await isSame(SealingKeys(key), SealingKeys(SecretKey(Self.old))))
        let options = try ServerOptions(secretKey: SecretKey(Self.new), olderSecretKey: SecretKey(Self.old))
        #expect(try await isSame(SealingKeys(key), try #require(options.sealingKeys)))
        #expect(ServerOptions().sealingKeys == nil)
    }

    @Test func `E-22: a secret is sealed again with the current key, and opens without the older one after a restart`()
        async throws
    {
        try await withFolder { folder in
            func restarted<Result>(
                _ keys: SealingKeys,
                _ body: (SecurelyStoredValue<String>) async throws -> Result
            ) async throws -> Result {
                let engine = SQLiteStorageEngine(folder: folder)
                try engine.start()
                defer { engine.close() }
                return try await body(
                    SecurelyStoredValue(key: "token", storage: engine.collection("secrets"), keys: keys)
                )
            }
            let (old, new) = (try SecretKey(Self.old), try SecretKey(Self.new))
            try await restarted(SealingKeys(old)) { try await $0.set("a") }
            #expect(try await restarted(SealingKeys(new)) { $0.wrappedValue } == nil)
            #expect(try await restarted(SealingKeys(new, older: [old])) { $0.wrappedValue } == "a")
            #expect(try await restarted(SealingKeys(new, older: [old])) { try await $0.reseal() })
            #expect(try await restarted(SealingKeys(new)) { $0.wrappedValue } == "a")
            #expect(try await !restarted(SealingKeys(new)) { try await $0.reseal() })
        }
    }
}
