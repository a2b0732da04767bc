// Part of Rivulet. See README.md for the architecture.
// Checks with random programs that a reader who missed changes ends where the session stands.

import ChangeOracle
import CounterFixture
import RivuletJSON
import RivuletObservation
import RivuletSessions
import SeededRandom
import Testing

@Suite struct SessionResumeOracleTests {
    /// A reader that makes every change it gets on values of its own, and takes none that does not fit.
    private struct Reader {
        /// The watched paths, none in another one.
        let paths: [String]
        /// In the order of `paths`.
        var values: [JSONValue?]
        var cursor = ""
        var group: GroupID?

        init(paths: [String]) {
            self.paths = paths
            values = paths.map { _ in nil }
        }

        /// Takes what a stream begins with.
        mutating func take(_ joined: RecordingSink.Joined) throws {
            for event in joined.first { try take(event) }
            cursor = "\(joined.cursor)"
            group = joined.group
        }

        mutating func take(_ event: StreamEvent) throws {
            let data = try JSONValue(parsing: event.data)
            if case .object(let members)? = data["values"] {
                values = paths.map { path in members.first { $0.name.utf8.elementsEqual(path.utf8) }?.value }
            }
            if let changes = data["changes"] {
                for change in try [StateChange](logJSON: changes.jsonBytes()) { try make(change) }
            }
        }

        private mutating func make(_ change: StateChange) throws {
            let place = (change.path + "/").utf8
            let watched = try #require(paths.firstIndex { place.starts(with: ($0 + "/").utf8) }, "\(change)")
            let path = try JSONPointer(parsing: String(change.path.utf8.dropFirst(paths[watched].utf8.count)) ?? "")
                .tokens
            if path.isEmpty {
                #expect(change.operation != .move && change.index == nil)
                values[watched] = try change.value.map { try JSONValue(parsing: $0) }
            } else {
                let old = try #require(values[watched], "\(change)")
                let new: JSONValue = try #require(try old.applying(change, at: path[...]), "\(change) to \(old)")
                values[watched] = new
            }
        }
    }

    private static let ids = ["a", "b", "c", "d", "é", "e\u{301}"]

    private static let watches = [
        [""], ["/p/items"], ["/p/items/a"], ["/p/items/a/title"], ["/p/items", "/t"],
        ["/p/items/c/isOpen", "/p/items/e\u{301}", "/p/items/é"], ["/p/groups", "/p/mode"],
        ["/p/count"], ["/p/count", "/p/items/b"],
        ["/p/groups/1/items", "/p/mode/writing/text"], ["/p/groups/2", "/p/groups/1/items/a", "/p/mode/writing"],
    ]

    @Test(arguments: 0..<12)
    func `a reader who missed changes ends where the session stands`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let harness = try SessionHarness(limits: SessionLimits(tailChangesMax: seed % 3 == 0 ? 2 : 1_000))
        if seed % 2 == 0 { harness.storage.limitHistory(to: 2) }
        var readers = Self.watches.map(Reader.init)
        for index in readers.indices { try readers[index].take(try subscribe(readers[index], to: harness)) }
        var parkings = 0
        for step in 0..<40 {
            let delivered = harness.sink.delivered.count
            // In a third of the steps no log entry hides what transient events did.
            let isQuiet = Int.random(in: 0..<3, using: &generator) == 0
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                try harness.dispatch(isQuiet ? quietEvent(&generator) : event(&generator))
            }
            if Int.random(in: 0..<3, using: &generator) == 0 { parkings += try park(harness) }
            let isRestarted = Int.random(in: 0..<6, using: &generator) == 0
            if isRestarted {
                harness.restart()
                // All streams are gone; who comes back only after further events has a cursor of an earlier residence.
                for index in readers.indices { readers[index].group = nil }
            }
            for index in readers.indices {
                if let group = readers[index].group, index % 2 == step / 10 % 2 {
                    // It was there all the time.
                    for event in harness.sink.delivered[delivered...] where event.group == group {
                        try readers[index].take(event.event)
                        readers[index].cursor = "\(try #require(event.event.cursor))"
                    }
                    try expect(readers[index], at: harness, "seed \(seed), step \(step), attached")
                    continue
                }
                guard Int.random(in: 0..<3, using: &generator) > 0 || step % 10 == 9 else { continue }
                try readers[index].take(try subscribe(readers[index], to: harness))
                try expect(readers[index], at: harness, "seed \(seed), step \(step)")
            }
        }
        #expect(parkings > 0, "seed \(seed)")
    }

    /// Takes the session out of memory under its streams, where it holds nothing that storage does not; 1 if it went.
    private func park(_ harness: SessionHarness) throws -> Int {
        try harness.dispatch(#""forget""#)
        let residence = try harness.session().read(.root).get().cursor.residence
        harness.shard.evict(idleFor: .zero)
        guard harness.shard.parkedCount == 1 else { return 0 }
        #expect(harness.shard.residentCount == 0)
        // It comes back under the same name.
        #expect(try harness.session().read(.root).get().cursor.residence == residence)
        return 1
    }

    private func subscribe(_ reader: Reader, to harness: SessionHarness) throws -> RecordingSink.Joined {
        let paths = try reader.paths.map { try JSONPointer(parsing: $0) }
        return try harness.subscribe(paths, resume: reader.cursor.isEmpty ? nil : reader.cursor)
    }

    private func expect(_ reader: Reader, at harness: SessionHarness, _ place: Comment) throws {
        let state = try JSONValue(parsing: Array(try harness.value("").utf8))
        for (path, value) in zip(reader.paths, reader.values) {
            let expected = state.bytes(at: try JSONPointer(parsing: path).tokens[...])
            let found = value?.jsonBytes()
            #expect(
                found.map { String(decoding: $0, as: UTF8.self) }
                    == expected.map { String(decoding: $0, as: UTF8.self) },
                place
            )
        }
    }

    private func event(_ generator: inout SeededGenerator) -> String {
        guard Int.random(in: 0..<6, using: &generator) > 0 else { return quietEvent(&generator) }
        let id = Self.ids.randomElement(using: &generator) ?? ""
        let position = Int.random(in: 0...4, using: &generator)
        switch Int.random(in: 0..<21, using: &generator) {
        case 0...3: return #"{"insert":{"id":"\#(id)","at":\#(position)}}"#
        case 4...5: return #"{"retitle":{"id":"\#(id)","title":"\#(position)"}}"#
        case 6...8: return #"{"drop":"\#(id)"}"#
        case 9: return #"{"open":"\#(id)"}"#
        case 10: return #"[{"drop":"\#(id)"},{"insert":{"id":"\#(id)","at":0}},{"add":1}]"#
        case 11: return #"{"move":{"id":"\#(id)","to":\#(position)}}"#
        case 12: return position == 0 ? #"{"insert":{"id":"m","at":0}}"# : #"{"retitle":{"id":"m","title":"x"}}"#
        case 13: return position == 0 ? #""idle""# : #"{"write":"\#(position)"}"#
        case 14: return #"{"add":\#(position)}"#
        default: return groupEvent(id: id, &generator)
        }
    }

    /// An event that is in no log.
    private func quietEvent(_ generator: inout SeededGenerator) -> String {
        let id = Self.ids.randomElement(using: &generator) ?? ""
        let position = Int.random(in: 0...4, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return #"{"quietAdd":\#(position)}"#
        case 1: return #"{"quietInsert":{"id":"\#(id)","at":\#(position)}}"#
        case 2: return #"{"quietRetitle":{"id":"\#(id)","title":"\#(position)"}}"#
        case 3: return #"{"quietDrop":"\#(id)"}"#
        default: return #"{"select":\#(position)}"#
        }
    }

    private func groupEvent(id: String, _ generator: inout SeededGenerator) -> String {
        let group = Int.random(in: 1...3, using: &generator)
        let position = Int.random(in: 0...2, using: &generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...1: return #"{"insertGroup":{"id":\#(group),"at":\#(position)}}"#
        case 2: return #"{"dropGroup":\#(group)}"#
        case 3: return #"{"moveGroup":{"id":\#(group),"to":\#(position)}}"#
        case 4...6: return #"{"insertIn":{"group":\#(group),"id":"\#(id)","at":\#(position)}}"#
        case 7: return #"{"retitleIn":{"group":\#(group),"id":"\#(id)","title":"\#(position)"}}"#
        case 8: return #"{"dropIn":{"group":\#(group),"id":"\#(id)"}}"#
        default: return #"{"moveIn":{"group":\#(group),"id":"\#(id)","to":\#(position)}}"#
        }
    }
}
