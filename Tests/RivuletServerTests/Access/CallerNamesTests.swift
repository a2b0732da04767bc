// Checks that the secret of the callers' names stays with the data while the server's secret key is replaced.

import Crypto
import Logging
import RivuletSessions
import RivuletStores
import Testing

@testable import RivuletServer

@Suite struct CallerNamesTests {
    private let storage = MemoryItemStorage(clock: { 0 })
    private let lines = LogLines()

    private static func key(_ digit: Int) throws -> SecretKey {
        try SecretKey(String(repeating: "\(digit)", count: SecretKey.bytesMin))
    }

    private func secret(_ key: Int, older: Int? = nil) throws -> SymmetricKey {
        try CallerNames(in: storage, Self.key(key), older: older.map(Self.key), logger: lines.logger()).load()
    }

    private func items() throws -> [StoredItem] {
        let answer = BlockingPromise<Result<StoredCollection, ItemStorageError>>()
        storage.items(of: CallerNames.collection) { answer.give($0) }
        return try answer.take().get().items
    }

    @Test func `the first secret is that of the secret key, and stays when the key is replaced`() throws {
        let first = try secret(1)
        #expect(try first == CallerNames.derived(from: Self.key(1)))
        let sealed = try #require(try items().first?.document)
        #expect(try secret(1) == first && items().map(\.document) == [sealed])
        #expect(try secret(2, older: 1) == first && items().map(\.document) != [sealed])
        #expect(try secret(2) == first && secret(3, older: 2) == first && secret(3) == first)
        #expect(try items().count == 1 && lines.all.isEmpty)
        // The secret itself is not in the storage.
        let bytes = unsafe first.withUnsafeBytes { unsafe Array($0) }
        #expect(try items().allSatisfy { $0.document.firstRange(of: bytes) == nil })
    }

    @Test func `a start without the key makes other names, and the first secret comes back with its key`() throws {
        let first = try secret(1)
        let second = try secret(2)
        #expect(first != second && lines.all.count == 1)
        #expect(lines.all.allSatisfy { $0.hasPrefix("error ") && $0.contains("give that key as an older key") })
        #expect(try secret(2) == second && secret(3, older: 2) == second)
        #expect(try secret(3, older: 1) == first && secret(3) == first)
        #expect(try items().count == 2)
    }

    @Test func `a damaged secret is no secret, and a limited number is kept`() throws {
        storage.commit([.put(key: "1", document: [1, 2, 3])], to: CallerNames.collection) { _ in }
        for digit in 0..<CallerNames.secretsMax { _ = try secret(digit) }
        #expect(try items().count == CallerNames.secretsMax)
        #expect(lines.all.last?.contains("keeps no more") == true)
    }
}
