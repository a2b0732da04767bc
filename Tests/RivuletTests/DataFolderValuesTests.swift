// Tests values and secrets without a configured storage. Closing and opening their file simulates a restart.

import Foundation
import InMemoryLogging
import Logging
import RivuletSQLite
import RivuletStores
import Testing

@testable import Rivulet

@Suite struct DataFolderValuesTests {
    private static func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rivulet-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer {
            do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) }
        }
        try await body(folder)
    }

    /// Closes the file of values, as the end of the process does.
    private static func restart(_ folder: String) throws {
        try SQLiteStorageEngine.default(appendingPath: "values", dataFolder: folder).close()
    }

    private static func theme(_ folder: String) -> StoredValue<String> {
        StoredValue(key: "theme", default: "light", storage: DataFolderValues(folder: folder).values)
    }

    /// A secret as another process would open it.
    private static func token(
        _ folder: String,
        _ service: KeychainService? = nil,
        environment: [String: String] = [:],
        logger: Logger = Logger(label: "test")
    ) -> SecurelyStoredValue<String> {
        let keys = ProcessKeys(folder: folder, environment: environment)
        return SecurelyStoredValue("token", service, in: DataFolderValues(folder: folder), keys, logger)
    }

    private static func names(_ folder: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: folder))
    }

    @Test func `E-18: a value needs no storage, is opened at its first use, and exists after a restart`() async throws {
        try await Self.withFolder { folder in
            let theme = Self.theme(folder)
            #expect(try Self.names(folder) == [])
            #expect(theme.wrappedValue == "light")
            try await theme.set("dark")
            let names = try Self.names(folder)
            #expect(names == ["values"])
            try Self.restart(folder)
            #expect(Self.theme(folder).wrappedValue == "dark")
            try Self.restart(folder)
        }
    }

    @Test func `E-18, E-22: the seeds' declarations of properties compile, and open no file`() {
        struct Preferences {
            @StoredValue(key: "hasHapticsEnabled") var hasHapticsEnabled = false
            @StoredValue(key: "lastOpenedDate") var lastOpenedDate: Date? = nil
            @SecurelyStoredValue<String>(key: "redPanda") var redPanda
            @SecurelyStoredValue<String>(key: "redPanda", service: "mail", group: "work") var workPanda
        }
        let isThere = FileManager.default.fileExists(atPath: ProcessFolder.path() + "/values")
        let preferences = Preferences()
        let direct = StoredValue(key: "hasHapticsEnabled", default: false)
        #expect(preferences.$hasHapticsEnabled.defaultValue == false && direct.key == "hasHapticsEnabled")
        #expect(preferences.$workPanda.service == "mail" && preferences.$redPanda.group == nil)
        #expect(FileManager.default.fileExists(atPath: ProcessFolder.path() + "/values") == isThere)
    }

    @Test func `E-18: while the data folder cannot be opened, writes fail and reads give the default`()
        async throws
    {
        try await Self.withFolder { folder in
            try Data().write(to: URL(filePath: folder + "/values"))
            let theme = Self.theme(folder)
            await #expect(throws: ItemStorageError.self) { try await theme.set("dark") }
            #expect(theme.wrappedValue == "light")
            try FileManager.default.removeItem(atPath: folder + "/values")
            try await theme.set("dark")
            #expect(theme.wrappedValue == "dark")
            try Self.restart(folder)
        }
    }

    @Test func `E-22: a secret needs neither a storage nor a key, and outlives its key`() async throws {
        try await Self.withFolder { folder in
            let first = Self.token(folder)
            #expect(try Self.names(folder) == [])
            try await first.set("plain-text-of-the-secret")
            try await Self.token(folder, "mail").set("another-plain-text")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/secret.key")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try Self.restart(folder)
            #expect(Self.token(folder).wrappedValue == "plain-text-of-the-secret")
            let new = ["RIVULET_SECRET_KEY": String(repeating: "new", count: 11)]
            let both = new.merging(["RIVULET_OLDER_SECRET_KEY_FILE": folder + "/secret.key"]) { $1 }
            #expect(Self.token(folder, environment: both).wrappedValue == "plain-text-of-the-secret")
            #expect(try await Self.token(folder, environment: both).reseal())
            try Self.restart(folder)
            #expect(Self.token(folder, environment: new).wrappedValue == "plain-text-of-the-secret")
            let mail = Self.token(folder, "mail", environment: new)
            #expect(mail.wrappedValue == nil)
            await #expect(throws: KeychainError.couldNotAccessKeychain) { try await mail.reseal() }
            try Self.restart(folder)
        }
    }

    @Test func `E-24: an unusable key is an error with a log line, and works once it is repaired`() async throws {
        try await Self.withFolder { folder in
            let log = InMemoryLogHandler()
            let logger = Logger(label: "test") { _ in log }
            let short = Self.token(folder, environment: ["RIVULET_SECRET_KEY": "short"], logger: logger)
            await #expect(throws: KeychainError.couldNotAccessKeychain) { try await short.set("a") }
            let path = folder + "/key"
            let token = Self.token(folder, environment: ["RIVULET_SECRET_KEY_FILE": path], logger: logger)
            await #expect(throws: KeychainError.errorWithStatus(status: ENOENT)) { try await token.set("a") }
            let text = Data(String(repeating: "k", count: 32).utf8)
            let readable: [FileAttributeKey: Any] = [.posixPermissions: 0o644]
            #expect(FileManager.default.createFile(atPath: path, contents: text, attributes: readable))
            await #expect(throws: KeychainError.missingEntitlement) { try await token.set("a") }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            try await token.set("a")
            let words = ["has 5 bytes", "No such file", "chmod 600 \(path)"]
            #expect(log.entries.count == words.count)
            for (entry, words) in zip(log.entries, words) { #expect("\(entry.message)".contains(words)) }
            let names = try Self.names(folder)
            #expect(names == ["key", "values"])
            try Self.restart(folder)
        }
    }
}
