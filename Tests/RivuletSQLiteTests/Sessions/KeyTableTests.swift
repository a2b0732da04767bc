// Checks the positions of keys against a dictionary.

import RivuletSQLite
import Testing

@Suite struct KeyTableTests {
    /// Numbers that are the same in each run.
    private struct Numbers {
        var state: UInt64

        mutating func next(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }

    @Test(arguments: [0, 3, 0x1f, 0x1000_0000_0000_0000, .max] as [UInt64])
    func `finds inserted keys that were not removed, however many share a hash`(mask: UInt64) {
        var (table, model) = (KeyTable(), [Int64: UInt64]())
        var numbers = Numbers(state: 7)
        for rowID in Int64(1)...400 {
            let hash = UInt64(numbers.next(below: 1 << 30)) &* 0x9E37_79B9_7F4A_7C15 & mask
            table.insert(rowID, of: hash)
            model[rowID] = hash
            let old = Int64(numbers.next(below: 400) + 1)
            if let hash = model.removeValue(forKey: old) { table.remove(old, of: hash) }
            table.remove(1_000, of: hash)
        }
        #expect(table.count == model.count)
        for rowID in Int64(1)...400 {
            let hash = model[rowID] ?? 0
            #expect(table.rowID(of: hash) { $0 == rowID } == (model[rowID] == nil ? nil : rowID))
        }
    }

    @Test(arguments: [0, 1, 10, 11, 1_000])
    func `can be made from any number of entries`(count: Int64) {
        let table = KeyTable((0..<count).map { (hash: UInt64($0 / 3), rowID: $0 + 1) })
        #expect(table.count == count)
        for rowID in 0..<count { #expect(table.rowID(of: UInt64(rowID / 3)) { $0 == rowID + 1 } == rowID + 1) }
        #expect(table.rowID(of: UInt64(count)) { _ in true } == nil)
    }

    @Test func `checks only the row ids under the hash`() {
        var table = KeyTable()
        table.insert(1, of: 5)
        table.insert(2, of: 5 + 16)
        table.insert(3, of: 5)
        var asked: [Int64] = []
        #expect(
            table.rowID(of: 5) {
                asked.append($0); return false
            } == nil
        )
        #expect(asked == [1, 3])
        #expect(KeyTable().rowID(of: 5) { _ in true } == nil)
    }

    @Test func `removes all row ids from the given one on`() {
        var table = KeyTable()
        for rowID in Int64(1)...100 { table.insert(rowID, of: UInt64(rowID) % 7) }
        table.removeRowIDs(from: 51)
        #expect(table.count == 50)
        for rowID in Int64(1)...100 {
            #expect((table.rowID(of: UInt64(rowID) % 7) { $0 == rowID } != nil) == (rowID <= 50))
        }
    }

    @Test func `rethrows an error of the check of a row id`() {
        struct Failure: Error {}
        var table = KeyTable()
        table.insert(1, of: 5)
        #expect(throws: Failure.self) {
            try table.rowID(of: 5) { (_) throws(Failure) in throw Failure() }
        }
    }
}
