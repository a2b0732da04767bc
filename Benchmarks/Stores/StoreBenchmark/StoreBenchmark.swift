// Measures the speed of commits of store items to SQLite, and of reads.

import CAllocationCount
import Foundation
import RivuletSQLite
import RivuletSessions
import RivuletStores

/// Prints the speed of writes and reads of store items, and the cost of opening a store and of one insert.
///
/// The figures are items per second in commits of 1,000, the time of one read of all items, the time and memory of
/// opening a store of them, and the time of one insert.
///
/// The arguments are `StoreBenchmark FOLDER [ROUNDS]`.
@main
enum StoreBenchmark {
    private static let commits = 100
    private static let itemsEach = 1_000
    private static let insertsEach = 501
    private static let text = String(repeating: "x", count: 120)
    private static let document = [UInt8](repeating: UInt8(ascii: "x"), count: 200)

    static func main() async throws {
        let arguments = CommandLine.arguments
        let folder = arguments.count > 1 ? arguments[1] : "."
        let rounds = arguments.count > 2 ? Int(arguments[2]) ?? 1 : 1
        print("\(commits * itemsEach) items of \(document.count) bytes, commits of \(itemsEach)")
        for _ in 0..<rounds {
            try await measure("ascending numbers as ids", in: folder) { "item-\(String($0 + 1_000_000))" }
            try await measure("random ids (UUID)", in: folder) { _ in UUID().uuidString }
            try await measureOpening("JSONCodable", in: folder) {
                StateNote(id: $0, title: "Buy milk", body: text, isDone: false)
            }
            try await measureOpening("Codable", in: folder) {
                CodableNote(id: $0, title: "Buy milk", body: text, isDone: false)
            }
        }
    }

    private static func measure(_ title: String, in folder: String, key: @Sendable (Int) -> String) async throws {
        let path = folder + "/stores-\(UUID().uuidString)"
        defer { remove(path) }
        let changes = (0..<commits).map { commit in
            (0..<itemsEach).map { ItemChange.put(key: key(commit * itemsEach + $0), document: document) }
        }
        var engine = SQLiteStorageEngine(folder: path)
        try engine.start()
        let inserting = try await ContinuousClock().measure {
            for commit in changes { try await engine.collection("items").commit(commit) }
        }
        let updating = try await ContinuousClock().measure {
            for commit in changes { try await engine.collection("items").commit(commit) }
        }
        engine.close()
        engine = SQLiteStorageEngine(folder: path)
        try engine.start()
        let firstAlone = try await ContinuousClock().measure {
            try await engine.collection("items").commit([.put(key: "one more", document: document)])
        }
        engine.close()
        engine = SQLiteStorageEngine(folder: path)
        try engine.start()
        defer { engine.close() }
        var count = 0
        let reading = try await ContinuousClock().measure {
            count = try await engine.collection("items").contents().items.count
        }
        let first = try await ContinuousClock().measure {
            try await engine.collection("items").commit([.put(key: "one more", document: document)])
        }
        let perSecond = { (time: Duration) in Int(Double(commits * itemsEach) / (time / .seconds(1))) }
        print("- \(title): inserted \(perSecond(inserting))/s, updated \(perSecond(updating))/s,", terminator: " ")
        print("\(count) read in \(milliseconds(reading)) ms,", terminator: " ")
        print("first commit after a start \(milliseconds(firstAlone)) ms, after a read \(milliseconds(first)) ms")
    }

    private static func measureOpening<Item: StorableItem & Identifiable>(
        _ title: String,
        in folder: String,
        item: @Sendable (String) -> Item
    ) async throws where Item.ID == String {
        let path = folder + "/stores-\(UUID().uuidString)"
        defer { remove(path) }
        var engine = SQLiteStorageEngine(folder: path)
        try engine.start()
        let filled = try await Store<Item>(storage: engine.collection("notes"))
        for commit in 0..<commits {
            try await filled.insert((0..<itemsEach).map { item("note-\(commit * itemsEach + $0 + 1_000_000)") })
        }
        engine.close()
        engine = SQLiteStorageEngine(folder: path)
        try engine.start()
        defer { engine.close() }
        let before = allocated_bytes()
        let start = ContinuousClock.now
        let store = try await Store<Item>(storage: engine.collection("notes"))
        let opening = ContinuousClock.now - start
        let count = store.items.count
        // The bytes include the pages that SQLite keeps, and the keys that the writer keeps.
        let bytes = (allocated_bytes() - before) / UInt64(count)
        print(
            "- \(title): a store of \(count) items opened in \(milliseconds(opening)) ms, \(bytes) bytes each,",
            terminator: " "
        )
        let small = try await Store<Item>(storage: engine.collection("few"))
        try await small.insert((0..<10).map { item("few-\($0)") })
        let (few, many) = try await medians(of: small, store, item)
        print("one insert into 10 \(few) us, into \(count) \(many) us,", terminator: " ")
        let held = (few: small.items, many: store.items)
        let (fewRemoved, manyRemoved) = try await medians(removing: small, held.few, store, held.many)
        print("one removal from \(held.few.count) \(fewRemoved) us,", terminator: " ")
        print("from the middle of \(held.many.count) \(manyRemoved) us")
    }

    /// The medians of single inserts into two stores in microseconds.
    ///
    /// The inserts alternate between the stores.
    private static func medians<Item: StorableItem>(
        of first: Store<Item>,
        _ second: Store<Item>,
        _ item: (String) -> Item
    ) async throws -> (Int, Int) {
        var times: (first: [Duration], second: [Duration]) = ([], [])
        for number in 0..<insertsEach {
            for (store, isFirst) in [(first, true), (second, false)] {
                let start = ContinuousClock.now
                try await store.insert(item("new-\(number)"))
                let time = ContinuousClock.now - start
                if isFirst { times.first.append(time) } else { times.second.append(time) }
            }
        }
        return (median(times.first), median(times.second))
    }

    /// The medians of single removals from two stores in microseconds.
    ///
    /// The removals alternate between the stores. The caller has read the items before, and holds the lists, because
    /// reading all items and releasing them is O(n).
    private static func medians<Item: StorableItem>(
        removing first: Store<Item>,
        _ firstItems: [Item],
        _ second: Store<Item>,
        _ secondItems: [Item]
    ) async throws -> (Int, Int) {
        var times: (first: [Duration], second: [Duration]) = ([], [])
        for number in 0..<insertsEach {
            for (store, items, isFirst) in [(first, firstItems, true), (second, secondItems, false)] {
                let item = items[(items.count - insertsEach) / 2 + number]
                let start = ContinuousClock.now
                try await store.remove(item)
                let time = ContinuousClock.now - start
                if isFirst { times.first.append(time) } else { times.second.append(time) }
            }
        }
        return (median(times.first), median(times.second))
    }

    private static func median(_ times: [Duration]) -> Int { Int(times.sorted()[times.count / 2] / .microseconds(1)) }

    private static func milliseconds(_ time: Duration) -> Int { Int(time / .milliseconds(1)) }

    private static func remove(_ path: String) {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("could not remove \(path): \(error)")
        }
    }
}
