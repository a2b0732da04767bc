// Checks that each of several nested paths gets the changes that a stream of this path alone would get.

import RivuletBase
import RivuletJSON
import RivuletObservation
import RivuletSessions
import SeededRandom
import Testing

@Suite struct SessionNestedPathsTests {
    private func harness(_ bodies: String..., limits: SessionLimits = SessionLimits()) throws -> SessionHarness {
        let harness = try SessionHarness(limits: limits)
        harness.deploy(LedgerApp())
        for body in bodies { try harness.dispatch(body) }
        return harness
    }

    private static let outer = #"{"op":"replace","path":"/p/owner","value":{"name":"b","cards":[]}}"#
    private static let inner = #"{"op":"replace","path":"/p/owner/name","value":"b"}"#

    @Test func `a replaced value is a change at its path and at the nested path`() throws {
        let harness = try harness(#"{"own":"a"}"#)
        let joined = try harness.subscribe("/p/owner/name", "/p/owner")
        let told = #"{"version":2,"changes":[\#(Self.outer),\#(Self.inner)]}"#
        try harness.dispatch(#"{"own":"b"}"#)
        #expect(harness.sink.delivered.map(\.event.text) == [told])
        let cursor = "\(joined.cursor)"
        #expect(try harness.subscribe("/p/owner/name", "/p/owner", resume: cursor).first.map(\.text) == [told])
        let topic = StreamTopic(paths: [["p", "owner"], ["p", "owner", "name"]].map { JSONPointer(tokens: $0) })
        #expect(try harness.subscribe(topic, resume: cursor, resumesAll: true).first.map(\.text) == [told])
        // The value has an unchanged part, and the stream gets no change for the path of that part.
        try harness.dispatch(#"[{"own":"b"},{"card":1}]"#)
        #expect(try harness.sink.delivered.last?.event.changes.map(\.path) == ["/p/owner"])
    }

    @Test func `an added or removed element is a change at its collection's path and at a wildcard path`() throws {
        let harness = try harness(#"{"open":{"_0":"a","at":0}}"#)
        try harness.subscribe("/p/accounts", "/p/accounts/*", "/p/accounts/*/title")
        try harness.dispatch(#"{"open":{"_0":"b","at":0}}"#)
        let element = #"{"id":"b","title":"","entries":[],"isOpen":false}"#
        let changes =
            #"[{"op":"add","path":"/p/accounts/b","index":0,"value":\#(element)},"#
            + #"{"op":"add","path":"/p/accounts/b/title","value":""}]"#
        #expect(harness.sink.delivered.last?.event.text == #"{"version":2,"changes":\#(changes)}"#)
        try harness.dispatch(#"{"close":"a"}"#)
        let removed = try #require(try harness.sink.delivered.last?.event.changes)
        #expect(removed.map(\.path) == ["/p/accounts/a", "/p/accounts/a/title"])
        #expect(removed.allSatisfy { $0.operation == .remove })
        try harness.dispatch(#"{"retitle":{"_0":"b","title":"x"}}"#)
        #expect(try harness.sink.delivered.last?.event.changes.map(\.path) == ["/p/accounts/b/title"])
    }

    @Test func `too many matches of a wildcard are in the change of the outer path`() throws {
        let harness = try harness(#"{"replaceAll":\#(PathSet.wildcardLocationsMax)}"#)
        try harness.subscribe("/p/accounts", "/p/accounts/*/title")
        try harness.dispatch(#"{"open":{"_0":"a","at":0}}"#)
        try harness.dispatch(#"{"replaceAll":2}"#)
        #expect(try harness.sink.delivered.last?.event.changes.map(\.path) == ["/p/accounts"])
    }

    @Test func `a missed outer change that replaced matches of a wildcard is a reset`() throws {
        let harness = try harness(#"{"rate":{"_0":"a","_1":1}}"#)
        let joined = try harness.subscribe("/p/rates", "/p/rates/*")
        try harness.dispatch(#"{"rate":{"_0":"a","_1":null}}"#)
        #expect(
            try harness.sink.delivered.last?.event.changes.map { "\($0.operation) \($0.path)" }
                == ["replace /p/rates", "remove /p/rates/a"]
        )
        let reset = try harness.subscribe("/p/rates", "/p/rates/*", resume: "\(joined.cursor)").first
        #expect(reset.map(\.resetReason) == [.placesUnknown])
    }

    // MARK: - As alone

    private static let watches: [(view: String?, paths: [String])] = [
        (nil, ["/p/owner", "/p/owner/name", "/p/owner/cards"]), (nil, ["/p", "/p/mode", "/p/mode/editing/name"]),
        (nil, ["", "/p/accounts/a/title", "/t/guest/name", "/t/guest"]),
        (nil, ["/p/rates", "/p/rates/*", "/p/rates/a"]),
        (nil, ["/p/accounts", "/p/accounts/*"]), (nil, ["/p/accounts", "/p/accounts/*/title", "/p/accounts/b"]),
        (nil, ["/p/accounts/a", "/p/accounts/*/title", "/p/accounts/*/entries/*/amount", "/p/accounts/*/entries"]),
        (nil, ["/p/*", "/p/history/0", "/p/accounts/*/isOpen", "/p/mode/*/name", "/p/name"]),
        (nil, ["/p/accounts/é/title", "/p/accounts", "/p/accounts/e\u{301}", "/p/accounts/*/id"]),
        (nil, ["/p/accounts/*", "/p/accounts/a/entries", "/p/accounts/a", "/p/history", "/p/history/*", "/t"]),
        ("LedgerView", ["/accounts", "/accounts/*/title", "/titles", "/titles/*"]),
        ("LedgerView", ["", "/rich/*", "/rich/*/title", "/rich/a/entries"]),
    ]

    /// A stream of several paths, and one stream for each of them alone.
    private struct Readers {
        let paths: [String]
        var together: FlatReader
        var alone: [FlatReader]

        init(_ paths: [String], view: String?) throws {
            self.paths = paths
            together = try FlatReader(paths, view: view)
            alone = try paths.map { try FlatReader([$0], view: view) }
        }
    }

    /// A change without the index of an element.
    ///
    /// Only the watchers of the collection get the index.
    private static func unplaced(_ change: StateChange) -> StateChange {
        var change = change
        if change.operation == .add { change.index = nil }
        return change
    }

    /// Checks that the stream has the changes of the separate streams, each once.
    ///
    /// If an element was removed and added again, these two changes replace the change of its value.
    private static func expect(_ told: [StateChange], are alone: [StateChange], _ place: Comment) throws {
        let texts = Set(told.map { "\(unplaced($0))" })
        let wanted = Set(alone.map { "\(unplaced($0))" })
        let removed = Set(told.filter { $0.operation == .remove }.map { Array($0.path.utf8) })
        let returned = Set(told.filter { $0.operation == .add }.map { Array($0.path.utf8) }).intersection(removed)
        let missing = alone.filter { !texts.contains("\(unplaced($0))") && !returned.contains(Array($0.path.utf8)) }
        #expect(missing == [], place)
        #expect(told.filter { !wanted.contains("\(unplaced($0))") } == [], place)
        let values = told.filter { $0.operation != .move && !returned.contains(Array($0.path.utf8)) }
        #expect(Set(values.map { Array($0.path.utf8) }).count == values.count, place)
    }

    @Test(arguments: 0..<16)
    func `a stream of several paths gets the changes of separate streams, live and resumed`(seed: UInt64) throws {
        var program = LedgerProgram(seed: seed &+ 2_000)
        let harness = try harness(limits: SessionLimits(tailChangesMax: seed % 3 == 0 ? 2 : 1_000))
        var all = try Self.watches.map { try Readers($0.paths, view: $0.view) }
        var resumed = 0
        for step in 0..<40 {
            let delivered = harness.sink.delivered.count
            for _ in 0..<program.number(1...3) { try harness.dispatch(program.body()) }
            for index in all.indices {
                let place: Comment = "seed \(seed), step \(step), \(all[index].paths)"
                guard let group = all[index].together.group else {
                    guard program.number(0...2) == 0 else { continue }
                    resumed += try resume(&all[index], at: harness, place)
                    continue
                }
                var told: [String: [StateChange]] = [:]
                var toldAlone: [String: [StateChange]] = [:]
                for (other, event) in harness.sink.delivered[delivered...] {
                    let cursor = "\(try #require(event.cursor))"
                    if other == group { told[cursor, default: []] += try event.changes }
                    for reader in all[index].alone where reader.group == other {
                        toldAlone[cursor, default: []] += try event.changes
                    }
                }
                #expect(told.keys.sorted() == toldAlone.keys.sorted(), place)
                for (cursor, changes) in told { try Self.expect(changes, are: toldAlone[cursor] ?? [], place) }
                all[index].together.cursor = "\(try harness.session().read(.root).get().cursor)"
                if program.number(0...9) == 0 { all[index].together.group = nil }
            }
            if program.number(0...11) == 0 {
                harness.restart()
                for index in all.indices { all[index].together.group = nil }
            }
        }
        #expect(resumed > 0, "seed \(seed)")
    }

    /// Resumes all streams from one cursor.
    ///
    /// Returns 1 if the result was no reset.
    private func resume(_ readers: inout Readers, at harness: SessionHarness, _ place: Comment) throws -> Int {
        let cursor = readers.together.cursor
        let joined = try harness.subscribe(readers.together.topic, resume: cursor)
        (readers.together.group, readers.together.cursor) = (joined.group, "\(joined.cursor)")
        var alone: [StreamEvent] = []
        for index in readers.alone.indices {
            let joined = try harness.subscribe(readers.alone[index].topic, resume: cursor)
            readers.alone[index].group = joined.group
            alone += joined.first
        }
        guard cursor != nil else { return 0 }
        guard !alone.contains(where: { $0.name == .reset }) else {
            #expect(joined.first.map(\.name) == [.reset], place)
            return 0
        }
        try Self.expect(joined.first.flatMap { try $0.changes }, are: alone.flatMap { try $0.changes }, place)
        return 1
    }

    // MARK: - A flat reader

    private static let flatWatches = [
        ["", "/p/items/a/title", "/t"], ["/p/items", "/p/items/*/title"], ["/p/items", "/p/items/a", "/p/items/é"],
        ["/p/items/*", "/p/items/c/isOpen", "/p"], ["/p/groups", "/p/groups/1/items", "/p/groups/*/items/*"],
        ["/p/groups/*", "/p/groups/1/items/a", "/p/mode", "/p/mode/writing/text"],
        ["/p", "/p/mode/writing", "/p/count"],
    ]

    @Test(arguments: 0..<16)
    func `a reader that keeps a value for each path ends at the session's state`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let harness = try SessionHarness(limits: SessionLimits(tailChangesMax: seed % 3 == 0 ? 2 : 1_000))
        if seed % 4 == 0 { harness.storage.limitHistory(to: 2) }
        let interval: Duration? = seed % 4 == 1 ? .milliseconds(100) : nil
        var readers = try Self.flatWatches.map { try FlatReader($0, interval: interval) }
        for step in 0..<40 {
            let delivered = harness.sink.delivered.count
            let isQuiet = Int.random(in: 0..<3, using: &generator) == 0
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                try harness.dispatch(isQuiet ? TallyProgram.quietEvent(&generator) : TallyProgram.event(&generator))
            }
            if interval != nil { harness.timers.advance(by: .seconds(2)) }
            let isRestarted = Int.random(in: 0..<9, using: &generator) == 0
            for index in readers.indices {
                if let group = readers[index].group {
                    for event in harness.sink.delivered[delivered...] where event.group == group {
                        try readers[index].take(event.event, isMerged: interval != nil)
                    }
                } else if Int.random(in: 0..<2, using: &generator) == 0 {
                    try resume(&readers[index], resumesAll: seed % 4 == 2, at: harness)
                } else {
                    continue
                }
                let paths = readers[index].topic.paths.map(\.description)
                let place: Comment = "seed \(seed), step \(step), \(paths)"
                #expect(readers[index].values == (try readers[index].fresh(at: harness).values), place)
                if isRestarted || Int.random(in: 0..<5, using: &generator) == 0 { readers[index].group = nil }
            }
            if isRestarted { harness.restart() }
        }
    }

    private func resume(_ reader: inout FlatReader, resumesAll: Bool, at harness: SessionHarness) throws {
        var joined: RecordingSink.Joined
        repeat {
            joined = try harness.subscribe(reader.topic, resume: reader.cursor, resumesAll: resumesAll)
            try reader.take(joined)
        } while joined.group == GroupID(rawValue: 0)
    }
}
