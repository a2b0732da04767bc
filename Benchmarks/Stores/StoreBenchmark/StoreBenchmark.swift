// Part of Rivulet. See README.md for the architecture.
// Measures how fast items of stores are committed to SQLite and read again.

import Foundation
import RivuletSQLite
import RivuletSessions
import RivuletStores

/// Prints items per second written in commits of 1,000, and the time of one read of them all; `StoreBenchmark FOLDER [ROUNDS]`.
@main
enum StoreBenchmark {
    private static let commits = 100
    private static let itemsEach = 1_000
    private static let document = [UInt8](repeating: UInt8(ascii: "x"), count: 200)

    static func main() async throws {
        let arguments = CommandLine.arguments
        let folder = arguments.count > 1 ? arguments[1] : "."
        let rounds = arguments.count > 2 ? Int(arguments[2]) ?? 1 : 1
        print("\(commits * itemsEach) items of \(document.count) bytes, commits of \(itemsEach)")
        for _ in 0..<rounds {
            try await measure("ids that count up", in: folder) { "item-\(String($0 + 1_000_000))" }
            try await measure("random ids (UUID)", in: folder) { _ in UUID().uuidString }
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
        print("\(count) read in \(milliseconds(reading)) ms, first commit after a start \(milliseconds(first)) ms")
    }

    private static func milliseconds(_ time: Duration) -> Int { Int(time / .milliseconds(1)) }

    private static func remove(_ path: String) {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("could not remove \(path): \(error)")
        }
    }
}
