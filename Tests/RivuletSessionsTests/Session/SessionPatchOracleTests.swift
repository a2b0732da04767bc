// Checks with random programs that snapshots and RFC 6902 patches give exactly the session's state.

import ChangeOracle
import RivuletJSON
import RivuletSessions
import Testing

@Suite struct SessionPatchOracleTests {
    /// A reader that implements only RFC 6902.
    private struct Reader {
        let view: String?
        let path: JSONPointer
        var document = JSONValue.null
        var cursor: String?
        var group: GroupID?
        var patches = 0

        var topic: StreamTopic { StreamTopic(view: view, paths: [path], format: .jsonPatch) }

        mutating func take(_ joined: RecordingSink.Joined) throws {
            for event in joined.first { try take(event) }
            cursor = "\(joined.cursor)"
            group = joined.group
        }

        mutating func take(_ event: StreamEvent) throws {
            let data = try JSONValue(parsing: event.data)
            if event.name == .change {
                document = try document.applying(patch: data)
                patches += 1
            } else {
                let values = try #require(data["values"]?.members)
                document = values.first?.value ?? .null
            }
            if let place = event.cursor { cursor = "\(place)" }
        }
    }

    private static let paths = [
        "", "/p", "/p/accounts", "/p/accounts/a", "/p/accounts/b/title", "/p/accounts/a/entries",
        "/p/accounts/a/entries/#1", "/p/accounts/x~1y/entries/#2/amount", "/p/rates", "/p/rates/a", "/p/history",
        "/p/owner", "/p/owner/cards", "/p/mode", "/p/mode/editing/cards", "/p/accounts/é", "/t", "/t/guest/name",
    ]
    private static let viewPaths = ["", "/accounts", "/accounts/a/entries", "/titles", "/rich", "/rich/a/title"]

    @Test(arguments: 0..<24)
    func `a snapshot and its patches give the session's state`(seed: UInt64) throws {
        var program = LedgerProgram(seed: seed)
        let harness = try SessionHarness(limits: SessionLimits(tailChangesMax: seed % 3 == 0 ? 2 : 1_000))
        harness.deploy(LedgerApp())
        var readers = try Self.paths.map { Reader(view: nil, path: try JSONPointer(parsing: $0)) }
        readers += try Self.viewPaths.map { Reader(view: "LedgerView", path: try JSONPointer(parsing: $0)) }
        for index in readers.indices { try readers[index].take(try harness.subscribe(readers[index].topic)) }
        for step in 0..<60 {
            let delivered = harness.sink.delivered.count
            for _ in 0..<program.number(1...3) { try harness.dispatch(program.body()) }
            let isRestarted = program.number(0...11) == 0
            let isAway = step / 5 % 2 == 1
            for index in readers.indices {
                if isAway, index % 2 == step / 10 % 2 {
                    readers[index].group = nil
                    continue
                }
                if let group = readers[index].group {
                    for event in harness.sink.delivered[delivered...] where event.group == group {
                        try readers[index].take(event.event)
                    }
                } else {
                    let joined = try harness.subscribe(readers[index].topic, resume: readers[index].cursor)
                    try readers[index].take(joined)
                }
                try expect(readers[index], at: harness, "seed \(seed), step \(step)")
            }
            if isRestarted {
                harness.restart()
                for index in readers.indices { readers[index].group = nil }
            }
        }
        #expect(readers.allSatisfy { $0.patches > 0 || $0.path.tokens.count > 2 }, "seed \(seed)")
    }

    private func expect(_ reader: Reader, at harness: SessionHarness, _ place: Comment) throws {
        let session = try harness.session()
        let expected: JSONValue
        if let view = reader.view {
            // A view can only be read as a whole. A new stream gives the value at a path of the view.
            let first = try harness.subscribe(StreamTopic(view: view, paths: [reader.path])).first
            let snapshot = try JSONValue(parsing: try #require(first.first).data)
            let values = try #require(snapshot["values"]?.members)
            expected = values.first?.value ?? .null
        } else {
            switch session.read(reader.path) {
            case .success(let answer): expected = try JSONValue(parsing: answer.value)
            case .failure(let error):
                guard case .noValue = error else { throw error }
                expected = .null
            }
        }
        #expect(
            reader.document.sorted.description == expected.sorted.description,
            "\(place.rawValue), \(reader.view ?? "state") at \"\(reader.path)\""
        )
    }

    @Test func `a patch addresses elements by their index at that moment`() throws {
        let harness = try SessionHarness()
        harness.deploy(LedgerApp())
        for id in ["a", "b", "c"] { try harness.dispatch(#"{"open":{"_0":"\#(id)","at":9}}"#) }
        let whole = try harness.subscribe(StreamTopic(paths: [.root], format: .jsonPatch))
        let list = try harness.subscribe(
            StreamTopic(paths: [JSONPointer(tokens: ["p", "accounts"])], format: .jsonPatch)
        )
        try harness.dispatch(
            #"[{"close":"a"},{"retitle":{"_0":"b","title":"x"}},{"move":{"_0":"b","to":1}},{"open":{"_0":"d","at":0}}]"#
        )
        let seen = try #require(harness.sink.delivered.first { $0.group == list.group })
        let element = #"{"id":"d","title":"","entries":[],"isOpen":false}"#
        #expect(
            seen.event.text
                == #"[{"op":"remove","path":"/0"},{"op":"replace","path":"/0/title","value":"x"},"#
                + #"{"op":"add","path":"/0","value":\#(element)},{"op":"move","from":"/2","path":"/1"}]"#
        )
        let outer = try #require(harness.sink.delivered.first { $0.group == whole.group })
        #expect(outer.event.text.hasPrefix(#"[{"op":"remove","path":"/p/accounts/0"}"#))
    }

    @Test func `a missing value is null, and its addition and removal replace the whole document`() throws {
        let harness = try SessionHarness()
        harness.deploy(LedgerApp())
        let topic = StreamTopic(paths: [JSONPointer(tokens: ["p", "accounts", "a", "title"])], format: .jsonPatch)
        let joined = try harness.subscribe(topic)
        #expect(joined.first.map(\.text) == [#"{"version":0,"values":{}}"#])
        try harness.dispatch(#"{"open":{"_0":"a","at":0}}"#)
        try harness.dispatch(#"{"retitle":{"_0":"a","title":"x"}}"#)
        try harness.dispatch(#"{"close":"a"}"#)
        #expect(
            harness.sink.delivered.map(\.event.text) == [
                #"[{"op":"replace","path":"","value":""}]"#, #"[{"op":"replace","path":"","value":"x"}]"#,
                #"[{"op":"replace","path":"","value":null}]"#,
            ]
        )
    }

    @Test func `streams of both formats get the same change, each in its format`() throws {
        let harness = try SessionHarness()
        harness.deploy(LedgerApp())
        let path = [JSONPointer(tokens: ["p", "name"])]
        let changes = try harness.subscribe(StreamTopic(paths: path))
        let patches = try harness.subscribe(StreamTopic(paths: path, format: .jsonPatch))
        #expect(changes.group != patches.group)
        try harness.dispatch(#"{"rename":"x"}"#)
        let texts = Dictionary(uniqueKeysWithValues: harness.sink.delivered.map { ($0.group, $0.event.text) })
        #expect(
            texts[changes.group]
                == #"{"version":1,"changes":[{"op":"replace","path":"/p/name","value":"x"}]}"#
        )
        #expect(texts[patches.group] == #"[{"op":"replace","path":"","value":"x"}]"#)
    }
}

extension JSONValue {
    /// The value with object members sorted by name.
    ///
    /// Their order has no meaning.
    fileprivate var sorted: JSONValue {
        switch self {
        case .object(let members):
            .object(members.map { Member(name: $0.name, value: $0.value.sorted) }.sorted { $0.name < $1.name })
        case .array(let elements): .array(elements.map(\.sorted))
        default: self
        }
    }
}
