// Tests clients' requests to a secret, and that no request reads it.

import Foundation
import InMemoryLogging
import Logging
import RivuletJSON
import RivuletSessions
import RivuletStores
import Testing

@Suite(.timeLimit(.minutes(1))) struct SharedSecretTests {
    private let storage = MemoryItemStorage { 7 }
    private let log = InMemoryLogHandler()

    private func keys(_ byte: UInt8, older: UInt8? = nil) throws -> SealingKeys {
        func key(_ byte: UInt8) throws -> SealingKey {
            try #require(SealingKey(secret: [UInt8](repeating: byte, count: 32)))
        }
        return SealingKeys(try key(byte), older: try older.map { [try key($0)] } ?? [])
    }

    private func host(_ keys: SealingKeys?) -> any HostedSecret {
        let secret = SecurelyStoredValue<String>(
            key: "token",
            storage: storage.collection("secrets"),
            keys: keys,
            logger: Logger(label: "test") { [log] _ in log }
        )
        return SharedResource(secret).host
    }

    @Test func `E-22: a secret is set, reported as present, and removed, also after a restart`() async throws {
        #expect(try await host(keys(1)).presence() == .absent)
        try await host(keys(1)).set(#""hunter2""#)
        #expect(try await host(keys(1)).presence() == .present)
        let stored = try await storage.collection("secrets").contents().items
        #expect(stored.count == 1)
        #expect(!String(decoding: stored[0].document, as: UTF8.self).contains("hunter2"))
        try await host(keys(1)).removed()
        #expect(try await host(keys(1)).presence() == .absent)
        try await host(keys(1)).removed()
    }

    @Test func `a secret that no key opens is present and unreadable, and can be removed`() async throws {
        try await host(keys(1)).set(#""hunter2""#)
        #expect(try await host(keys(2)).presence() == .unreadable)
        #expect(try await host(nil).presence() == .unreadable)
        await expect(refusal: "\(KeychainError.couldNotAccessKeychain)") { _ = try await host(keys(2)).resealed() }
        try await host(keys(2)).removed()
        #expect(try await host(keys(2)).presence() == .absent)
    }

    @Test func `a secret of an older key is sealed with the current key once`() async throws {
        try await host(keys(1)).set(#""hunter2""#)
        #expect(try await host(keys(2, older: 1)).resealed())
        #expect(try await !host(keys(2, older: 1)).resealed())
        #expect(try await host(keys(2)).presence() == .present)
    }

    @Test(arguments: [#""hunter2"#, #"["hunter2"]"#, #"{"hunter2":1}"#, #"hunter2"#, #""hunter2" x"#])
    func `no error and no log line has text of a bad body`(_ body: String) async throws {
        do {
            try await host(keys(1)).set(body)
            Issue.record("the body was not refused")
        } catch {
            guard case .body(let fault)? = error as? SharedError else { throw error }
            #expect(!"\(fault) \(fault.pointer) \(fault.detail)".contains("hunter"))
        }
        #expect(!"\(log.entries)".contains("hunter"))
        #expect(try await host(keys(1)).presence() == .absent)
    }

    @Test func `without a key nothing is stored`() async throws {
        await expect(refusal: "\(KeychainError.missingEntitlement)") { try await host(nil).set(#""hunter2""#) }
        #expect(try await storage.collection("secrets").contents().items.isEmpty)
    }
}
