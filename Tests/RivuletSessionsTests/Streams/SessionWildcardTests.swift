// Checks the events of streams with wildcards in their paths.

import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct SessionWildcardTests {
    private func harness(_ bodies: String...) throws -> SessionHarness {
        let harness = try SessionHarness()
        harness.deploy(LedgerApp())
        for body in bodies { try harness.dispatch(body) }
        return harness
    }

    /// The changes of the last event, without its version.
    private func told(_ harness: SessionHarness) throws -> String {
        let data = try JSONValue(parsing: try #require(harness.sink.delivered.last).event.data)
        return try #require(data["changes"]).description
    }

    @Test func `a snapshot has each concrete path that matches, in the document's order`() throws {
        let harness = try harness(
            #"{"open":{"_0":"b","at":0}}"#,
            #"{"open":{"_0":"a","at":1}}"#,
            #"{"open":{"_0":"x/y","at":2}}"#,
            #"{"rate":{"_0":"é","_1":1}}"#,
            #"{"note":7}"#,
            #"{"note":8}"#,
            #"{"edit":"me"}"#
        )
        let titles = try harness.subscribe("/p/accounts/*/title")
        #expect(
            titles.first[0].text.hasSuffix(
                #""values":{"/p/accounts/b/title":"","/p/accounts/a/title":"","/p/accounts/x~1y/title":""}}"#
            )
        )
        let all = try harness.subscribe(
            "/p/rates/*",
            "/p/history/*",
            "/p/mode/*/name",
            "/p/accounts/a/title",
            "/*/name"
        )
        let values = #""/p/name":"ledger","/p/accounts/a/title":"","/p/history/0":7,"/p/history/1":8,"#
        #expect(
            all.first[0].text.hasSuffix(#""values":{\#(values)"/p/mode/editing/name":"me","/p/rates/é":1}}"#),
            "\(all.first[0].text)"
        )
        #expect(try harness.subscribe("/p/owner/*").first[0].text.hasSuffix(#""values":{}}"#))
    }

    @Test func `a stream gets changes, additions and removals of an element's field`() throws {
        let harness = try harness(#"{"open":{"_0":"a","at":0}}"#)
        try harness.subscribe("/p/accounts/*/title")
        try harness.dispatch(#"{"retitle":{"_0":"a","title":"x"}}"#)
        #expect(try told(harness) == #"[{"op":"replace","path":"/p/accounts/a/title","value":"x"}]"#)
        try harness.dispatch(#"{"open":{"_0":"b","at":0}}"#)
        #expect(try told(harness) == #"[{"op":"add","path":"/p/accounts/b/title","value":""}]"#)
        let count = harness.sink.delivered.count
        try harness.dispatch(#"{"move":{"_0":"b","to":1}}"#)
        try harness.dispatch(#"{"show":"b"}"#)
        try harness.dispatch(#"{"book":{"_0":"a","number":1,"amount":1}}"#)
        #expect(harness.sink.delivered.count == count)
        try harness.dispatch(#"{"close":"a"}"#)
        #expect(try told(harness) == #"[{"op":"remove","path":"/p/accounts/a/title"}]"#)
    }

    @Test func `elements that a wildcard matches have no index and no moves`() throws {
        let harness = try harness(#"{"open":{"_0":"a","at":0}}"#)
        try harness.subscribe("/p/accounts/*")
        try harness.dispatch(#"{"open":{"_0":"b","at":0}}"#)
        let element = #"{"id":"b","title":"","entries":[],"isOpen":false}"#
        #expect(try told(harness) == #"[{"op":"add","path":"/p/accounts/b","value":\#(element)}]"#)
        try harness.dispatch(#"{"move":{"_0":"b","to":1}}"#)
        #expect(harness.sink.delivered.count == 1)
    }

    @Test func `a replaced value is a change at each concrete path that differs`() throws {
        let harness = try harness(
            #"{"note":1}"#,
            #"{"note":2}"#,
            #"{"rate":{"_0":"a","_1":1}}"#,
            #"{"rate":{"_0":"b","_1":1}}"#
        )
        try harness.subscribe("/p/history/*", "/p/rates/*")
        try harness.dispatch(#"[{"rate":{"_0":"a","_1":null}},{"rate":{"_0":"c","_1":3}},{"note":3}]"#)
        #expect(
            try told(harness)
                == #"[{"op":"remove","path":"/p/rates/a"},{"op":"add","path":"/p/rates/c","value":3},"#
                + #"{"op":"add","path":"/p/history/2","value":3}]"#
        )
    }

    @Test func `elements are found by their id even if their JSON does not have it`() throws {
        let harness = try harness(
            #"{"open":{"_0":"a","at":0}}"#,
            #"{"book":{"_0":"a","number":1,"amount":5}}"#,
            #"{"book":{"_0":"a","number":2,"amount":6}}"#
        )
        let joined = try harness.subscribe("/p/accounts/*/entries/*/amount")
        #expect(
            joined.first[0].text.hasSuffix(
                #""values":{"/p/accounts/a/entries/#2/amount":6,"/p/accounts/a/entries/#1/amount":5}}"#
            )
        )
        try harness.dispatch(#"{"close":"a"}"#)
        #expect(
            try told(harness)
                == ##"[{"op":"remove","path":"/p/accounts/a/entries/#2/amount"},"##
                + ##"{"op":"remove","path":"/p/accounts/a/entries/#1/amount"}]"##
        )
    }

    @Test func `a path that several watched paths match is in an event once`() throws {
        let harness = try harness(#"{"open":{"_0":"a","at":0}}"#)
        let joined = try harness.subscribe("/p/accounts/a/title", "/p/accounts/*/title", "/p/*/a/title")
        #expect(joined.first[0].text.hasSuffix(#""values":{"/p/accounts/a/title":""}}"#))
        try harness.dispatch(#"{"retitle":{"_0":"a","title":"x"}}"#)
        #expect(try told(harness) == #"[{"op":"replace","path":"/p/accounts/a/title","value":"x"}]"#)
        try harness.dispatch(#"{"close":"a"}"#)
        #expect(try told(harness) == #"[{"op":"remove","path":"/p/accounts/a/title"}]"#)
    }

    @Test func `an element with the id '*' is one of the matches of a wildcard`() throws {
        let harness = try harness(#"{"open":{"_0":"*","at":0}}"#, #"{"open":{"_0":"a","at":0}}"#)
        try harness.subscribe("/p/accounts/*/title", "/p/accounts/*/entries/*")
        try harness.dispatch(#"{"retitle":{"_0":"*","title":"x"}}"#)
        #expect(try told(harness) == #"[{"op":"replace","path":"/p/accounts/*/title","value":"x"}]"#)
        try harness.dispatch(#"{"close":"*"}"#)
        #expect(try told(harness) == #"[{"op":"remove","path":"/p/accounts/*/title"}]"#)
    }

    @Test func `too many matches of a wildcard are sent as the value that contains them`() throws {
        let count = PathSet.wildcardLocationsMax
        let harness = try harness(#"{"replaceAll":\#(count)}"#)
        let name = #"{"rename":"x"}"#
        let joined = try harness.subscribe("/p/accounts/*/title")
        let values = try #require(try JSONValue(parsing: joined.first[0].data)["values"]?.members)
        #expect(values.count == count && values.last?.name == "/p/accounts/\(count - 1)/title")
        try harness.dispatch(name)
        // The old and new matches together are too many.
        try harness.dispatch(#"{"open":{"_0":"more","at":0}}"#)
        #expect(try told(harness) == #"[{"op":"add","path":"/p/accounts/more/title","value":""}]"#)
        // For a second, streams that join share the earlier snapshot.
        harness.timers.advance(by: .seconds(1))
        let late = try harness.subscribe("/p/accounts/*/title")
        let whole = try #require(try JSONValue(parsing: late.first[0].data)["values"]?.members)
        #expect(whole.map(\.name) == ["/p/accounts"] && whole.first?.value.elements?.count == count + 1)
        // The other fields of the elements are not watched, and a caller may not be allowed to see them.
        #expect(whole.first?.value[0]?.members?.map(\.name) == ["id", "title"])
        try harness.dispatch(#"{"replaceAll":2}"#)
        let changes = try JSONValue(parsing: try #require(harness.sink.delivered.last).event.data)["changes"]
        #expect(changes?.elements?.count == 1)
        #expect(changes?[0]?["path"] == "/p/accounts" && changes?[0]?["value"]?.elements?.count == 2)
    }

    @Test func `a resumed stream with wildcards gets added, changed and removed values`() throws {
        let harness = try harness(#"{"open":{"_0":"a","at":0}}"#, #"{"open":{"_0":"b","at":0}}"#)
        let joined = try harness.subscribe("/p/accounts/*/title")
        for body in [
            #"{"retitle":{"_0":"a","title":"x"}}"#, #"{"close":"b"}"#, #"{"open":{"_0":"c","at":0}}"#,
        ] { try harness.dispatch(body) }
        let resumed = try harness.subscribe("/p/accounts/*/title", resume: "\(joined.cursor)")
        let a = #"{"op":"replace","path":"/p/accounts/a/title","value":"x"}"#
        let b = #"{"op":"remove","path":"/p/accounts/b/title"}"#
        let c = #"{"op":"add","path":"/p/accounts/c/title","value":""}"#
        #expect(resumed.first.map(\.text) == [#"{"version":5,"changes":[\#(a),\#(b),\#(c)]}"#])
    }

    @Test func `a reader gets a reset if the matches that it has to remove are unknown`() throws {
        let harness = try harness(#"{"rate":{"_0":"a","_1":1}}"#)
        let rates = try harness.subscribe("/p/rates/*")
        let entries = try harness.subscribe("/p/accounts/*/entries/*")
        try harness.dispatch(#"{"rate":{"_0":"b","_1":2}}"#)
        let reset = try harness.subscribe("/p/rates/*", resume: "\(rates.cursor)")
        #expect(reset.first.map(\.name) == [.reset])
        #expect(reset.first[0].text.contains(#""reason":"places-unknown","values":{"/p/rates/a":1,"/p/rates/b":2}"#))
        #expect(try harness.subscribe("/p/accounts/*/entries/*", resume: "\(entries.cursor)").first.isEmpty)
        // The value is in an element that the reader cannot have, so the change is known.
        try harness.dispatch(#"{"open":{"_0":"a","at":0}}"#)
        try harness.dispatch(#"{"book":{"_0":"a","number":1,"amount":5}}"#)
        let added = try harness.subscribe("/p/accounts/*/entries/*", resume: "\(entries.cursor)")
        #expect(added.first.map(\.name) == [.change])
        #expect(added.first[0].text.contains(##""path":"/p/accounts/a/entries/#1""##))
    }

    /// A reader that keeps the value of each path.
    private struct Reader {
        let view: String?
        let paths: [String]
        var values: [String: JSONValue] = [:]
        var cursor: String?
        var group: GroupID?

        mutating func take(_ event: StreamEvent) throws {
            let data = try JSONValue(parsing: event.data)
            if let members = data["values"]?.members {
                values = [:]
                for member in members { #expect(values.updateValue(member.value, forKey: key(member.name)) == nil) }
            }
            var told: Set<String> = []
            for change in data["changes"]?.elements ?? [] {
                let path = key(try #require(change["path"]?.stringValue))
                // An element that was removed and added again has one change for the removal and one for the addition.
                #expect(told.insert(path).inserted || change["op"] == "add", "\(data)")
                #expect(change["index"] == nil && change["op"] != "move", "\(data)")
                #expect((change["op"] == "remove") == (change["value"] == nil), "\(data)")
                values[path] = change["value"]
            }
            if let place = event.cursor { cursor = "\(place)" }
        }

        /// The bytes of the path, because spellings that Swift treats as equal are different paths.
        private func key(_ path: String) -> String { path.utf8.map(String.init).joined(separator: " ") }
    }

    private static let watches: [(view: String?, paths: [String])] = [
        (nil, ["/p/accounts/*/title"]), (nil, ["/p/accounts/*/entries/*/amount"]),
        (nil, ["/p/rates/*", "/p/history/*"]),
        (nil, ["/p/owner/cards/*/amount"]), (nil, ["/p/mode/*/name", "/p/mode/editing/cards/*/number", "/t/*/name"]),
        (nil, ["/p/accounts/*/entries/#1/amount", "/p/accounts/a/entries/*/amount"]), (nil, ["/p/accounts/*/isOpen"]),
        (nil, ["/p/mode/*/code", "/t/cursor", "/p/accounts/é/entries/*/number"]),
        (nil, ["/p/accounts/*/id", "/p/name"]),
        ("LedgerView", ["/accounts/*/title", "/titles/*"]),
        ("LedgerView", ["/rich/*/title", "/rich/*/entries/*/amount"]),
    ]

    @Test(arguments: 0..<24)
    func `a reader that keeps every concrete path ends with the values of a fresh snapshot`(seed: UInt64) throws {
        var program = LedgerProgram(seed: seed &+ 1_000)
        let harness = try SessionHarness(limits: SessionLimits(tailChangesMax: seed % 3 == 0 ? 2 : 1_000))
        harness.deploy(LedgerApp())
        var readers = Self.watches.map { Reader(view: $0.view, paths: $0.paths) }
        func topic(_ reader: Reader) throws -> StreamTopic {
            StreamTopic(view: reader.view, paths: try reader.paths.map { try JSONPointer(parsing: $0) })
        }
        for step in 0..<60 {
            let delivered = harness.sink.delivered.count
            for _ in 0..<program.number(1...3) { try harness.dispatch(program.body()) }
            for index in readers.indices {
                if let group = readers[index].group {
                    for event in harness.sink.delivered[delivered...] where event.group == group {
                        try readers[index].take(event.event)
                    }
                } else if program.number(0...2) == 0 {
                    let joined = try harness.subscribe(try topic(readers[index]), resume: readers[index].cursor)
                    for event in joined.first { try readers[index].take(event) }
                    readers[index].cursor = "\(joined.cursor)"
                    readers[index].group = joined.group
                } else {
                    continue
                }
                var fresh = Reader(view: readers[index].view, paths: readers[index].paths)
                for event in try harness.subscribe(try topic(fresh)).first { try fresh.take(event) }
                #expect(
                    readers[index].values == fresh.values,
                    "seed \(seed), step \(step), \(readers[index].paths)"
                )
                if program.number(0...9) == 0 { readers[index].group = nil }
            }
            if program.number(0...11) == 0 {
                harness.restart()
                for index in readers.indices { readers[index].group = nil }
            }
        }
    }
}
