// Part of Rivulet. See README.md for the architecture.
// Tests the reference of the storage contract.

import ItemStorageConformance
import RivuletStores
import Testing

@Suite struct MemoryItemStorageTests {
    @Test(arguments: ItemStorageConformance.checks)
    func `memory keeps the contract`(_ check: ItemStorageCheck) async throws {
        try await check.run(MemoryItemStorage(itemsMax: ItemStorageConformance.itemsMax) { 7 })
    }
}
