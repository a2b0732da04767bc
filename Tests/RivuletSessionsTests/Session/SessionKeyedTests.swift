// Checks keyed collections in sessions: streams, resumption, the log.

import CounterFixture
import RivuletEngine
import RivuletJSON
import RivuletObservation
import Testing

@testable import RivuletSessions

@Suite struct SessionKeyedTests {
    private let harness: SessionHarness

    init() throws {
        harness = try Self.harness()
    }

    /// A session with three elements.
    private static func harness(limits: SessionLimits = SessionLimits()) throws -> SessionHarness {
        let harness = try SessionHarness(limits: limits)
        for id in ["c", "b", "a"] { try harness.dispatch(#"{"insert":{"id":"\#(id)","at":0}}"#) }
        return harness
    }

    private func item(_ id: String, _ title: String = "") -> String {
        #"{"id":"\#(id)","title":"\#(title)","isOpen":false}"#
    }

    /// The events that the subscribers of the paths get for one event.
    private func delivered(_ paths: String..., event: String) throws -> [String] {
        let harness = try Self.harness()
        let pointers = try paths.map { try JSONPointer(parsing: $0) }
        let group = try harness.subscribe(pointers).group
        try harness.dispatch(event)
        return harness.sink.delivered.filter { $0.group == group }.map { $0.event.changesText }
    }

    /// The events with which a reader of a path resumes after it missed these events.
    ///
    /// It checks that they are the same from memory and from the log.
    private func resumed(_ path: String, after events: String...) throws -> [String] {
        let answers = try [1_000, 1].map { tailChangesMax in
            let harness = try Self.harness(limits: SessionLimits(tailChangesMax: tailChangesMax))
            let joined = try harness.subscribe(path)
            for event in events { try harness.dispatch(event) }
            try harness.dispatch(#"{"add":1}"#)
            return try harness.subscribe(path, resume: "\(joined.cursor)").first.map(\.changesText)
        }
        #expect(answers[0] == answers[1])
        return answers[0]
    }

    @Test(arguments: [("/p/items/0", true), ("/p/items/0/title", true), ("/p/items/x", false), ("/p/items/x/0", false)])
    func `an element requested by its position has an error of its own`(path: String, isNumbered: Bool) throws {
        guard case .failure(let error) = try harness.session().read(try JSONPointer(parsing: path)) else {
            Issue.record("\(path) has a value")
            return
        }
        switch error {
        case .noElement(let found): #expect(isNumbered && found == path)
        case .noValue(let found): #expect(!isNumbered && found == path)
        default: Issue.record(error)
        }
    }

    // MARK: - Streams

    @Test(arguments: ["", "/p", "/p/items"])
    func `a stream of the collection gets added, removed and moved elements with their index`(_ path: String) throws {
        #expect(
            try delivered(path, "/p/none", event: #"{"insert":{"id":"d","at":1}}"#).first?.contains(
                #"{"op":"add","path":"/p/items/d","index":1,"value":\#(item("d"))}"#
            ) == true
        )
        #expect(
            try delivered(path, event: #"{"drop":"b"}"#).first?.contains(#"{"op":"remove","path":"/p/items/b"}"#)
                == true
        )
        #expect(
            try delivered(path, event: #"{"move":{"id":"a","to":2}}"#).first?.contains(
                #"{"op":"move","path":"/p/items/a","index":2}"#
            ) == true
        )
    }

    @Test func `a stream of an element gets its addition and removal, and not its moves`() throws {
        #expect(
            try delivered("/p/items/d", event: #"{"insert":{"id":"d","at":1}}"#) == [
                #"[{"op":"add","path":"/p/items/d","value":\#(item("d"))}]"#
            ]
        )
        #expect(try delivered("/p/items/a", event: #"{"drop":"a"}"#) == [#"[{"op":"remove","path":"/p/items/a"}]"#])
        #expect(try delivered("/p/items/a", event: #"{"move":{"id":"a","to":2}}"#) == [])
        #expect(try delivered("/p/items/a", event: #"{"drop":"b"}"#) == [])
    }

    @Test func `a stream of an element's field gets the field's addition and removal with the element`() throws {
        #expect(
            try delivered("/p/items/d/title", event: #"{"insert":{"id":"d","at":0}}"#) == [
                #"[{"op":"add","path":"/p/items/d/title","value":""}]"#
            ]
        )
        #expect(
            try delivered("/p/items/a/title", event: #"{"drop":"a"}"#) == [
                #"[{"op":"remove","path":"/p/items/a/title"}]"#
            ]
        )
        #expect(
            try delivered(
                "/p/items/a/title",
                event: #"[{"move":{"id":"a","to":2}},{"retitle":{"id":"a","title":"x"}}]"#
            ) == [#"[{"op":"replace","path":"/p/items/a/title","value":"x"}]"#]
        )
    }

    @Test func `ids with different spellings are watched separately, though Swift treats them as equal`() throws {
        let insert = #"{"insert":{"id":"e\#u{301}","at":0}}"#
        #expect(try delivered("/p/items/é", event: insert) == [])
        let composed = try harness.subscribe("/p/items/é").group
        let decomposed = try harness.subscribe("/p/items/e\u{301}").group
        #expect(composed != decomposed)
        let both = try harness.subscribe("/p/items/é", "/p/items/e\u{301}").group
        try harness.dispatch(insert)
        #expect(harness.sink.delivered.map(\.group).sorted { $0.rawValue < $1.rawValue } == [decomposed, both])
    }

    // MARK: - Resumption

    @Test func `a resumed stream gets removed and added elements, and changed fields`() throws {
        #expect(
            try resumed(
                "/p/items",
                after: #"{"insert":{"id":"d","at":0}}"#,
                #"{"retitle":{"id":"d","title":"x"}}"#,
                #"{"drop":"b"}"#,
                #"{"retitle":{"id":"c","title":"y"}}"#,
                #"{"insert":{"id":"gone","at":0}}"#,
                #"{"drop":"gone"}"#
            ) == [
                #"[{"op":"remove","path":"/p/items/b"},{"op":"replace","path":"/p/items/c/title","value":"y"},"#
                    + #"{"op":"add","path":"/p/items/d","index":0,"value":\#(item("d", "x"))}]"#
            ]
        )
    }

    @Test func `an element that was removed and added again has both changes`() throws {
        #expect(
            try resumed("/p/items", after: #"{"drop":"a"}"#, #"{"insert":{"id":"a","at":2}}"#) == [
                #"[{"op":"remove","path":"/p/items/a"},"#
                    + #"{"op":"add","path":"/p/items/a","index":2,"value":\#(item("a"))}]"#
            ]
        )
    }

    @Test func `a collection whose elements moved is sent whole`() throws {
        #expect(
            try resumed("/p/items", after: #"{"move":{"id":"a","to":2}}"#, #"{"drop":"b"}"#) == [
                #"[{"op":"replace","path":"/p/items","value":[\#(item("c")),\#(item("a"))]}]"#
            ]
        )
        #expect(try resumed("/p/items/c/title", after: #"{"move":{"id":"c","to":0}}"#) == [])
    }

    @Test func `after a restart a collection with transient fields in its elements is sent whole`() throws {
        try harness.dispatch(#"{"open":"a"}"#)
        let joined = try harness.subscribe("/p/items")
        harness.restart()
        let resumed = try harness.subscribe("/p/items", resume: "\(joined.cursor)")
        let items = ["a", "b", "c"].map { item($0) }.joined(separator: ",")
        #expect(
            resumed.first.map(\.changesText) == [#"[{"op":"replace","path":"/p/items","value":[\#(items)]}]"#]
        )
    }

    @Test func `a stream of a path within an element gets its value or its removal`() throws {
        #expect(
            try resumed("/p/items/a/title", after: #"{"retitle":{"id":"a","title":"x"}}"#) == [
                #"[{"op":"replace","path":"/p/items/a/title","value":"x"}]"#
            ]
        )
        #expect(
            try resumed("/p/items/a/title", after: #"{"drop":"a"}"#) == [
                #"[{"op":"remove","path":"/p/items/a/title"}]"#
            ]
        )
    }

    @Test func `an element without its id in its JSON is sent with the whole collection`() throws {
        #expect(
            try resumed("/p/tickets", after: #"{"issue":1}"#, #"{"issue":2}"#) == [
                #"[{"op":"replace","path":"/p/tickets","value":[{"number":2},{"number":1}]}]"#
            ]
        )
    }

    @Test func `after a restart an enum with transient fields in its payload is sent whole`() throws {
        try harness.dispatch(#"[{"write":"x"},{"select":4}]"#)
        let joined = try harness.subscribe("/p/mode")
        harness.restart()
        let resumed = try harness.subscribe("/p/mode", resume: "\(joined.cursor)")
        #expect(
            resumed.first.map(\.changesText) == [
                #"[{"op":"replace","path":"/p/mode","value":{"writing":{"text":"x","selection":0}}}]"#
            ]
        )
    }

    // MARK: - Memory

    @Test func `earlier edits of elements do not accumulate as overlays`() throws {
        for place in 0..<100 { try harness.dispatch(#"{"insert":{"id":"\#(place)","at":0}}"#) }
        let session = try harness.session()
        func items() -> Keyed<Item> { session.standing.state.opened(as: TallyApp.State.self).value.p.items }
        for place in 0..<100 {
            try harness.dispatch(#"{"retitle":{"id":"\#(place)","title":"x"}}"#)
            #expect(items().overlaidCount == 1)
        }
        #expect(throws: SessionError.self) {
            try harness.dispatch(#"[{"retitle":{"id":"5","title":"y"}},"blowUp"]"#)
        }
        #expect(items()[id: "5"]?.title == "x")
    }

    // MARK: - The log

    @Test func `elements keep their order over a restart, and lose their transient fields`() throws {
        for event in [
            #"{"move":{"id":"a","to":2}}"#, #"{"insert":{"id":"d","at":1}}"#, #"{"drop":"b"}"#,
            #"{"retitle":{"id":"c","title":"x"}}"#, #"{"open":"c"}"#,
        ] {
            try harness.dispatch(event)
        }
        #expect(try harness.value("/p/items/c/isOpen") == "true")
        harness.restart()
        #expect(try harness.value("/p/items") == "[\(item("d")),\(item("c", "x")),\(item("a"))]")
    }

    @Test func `changes of transient events to elements are replayed in their order`() throws {
        for event in [
            #"{"quietInsert":{"id":"d","at":0}}"#, #"{"quietRetitle":{"id":"d","title":"x"}}"#,
            #"{"quietRetitle":{"id":"a","title":"y"}}"#, #"{"quietDrop":"b"}"#, #"{"drop":"d"}"#,
            #"{"quietInsert":{"id":"d","at":9}}"#, #"{"retitle":{"id":"a","title":"z"}}"#,
        ] {
            try harness.dispatch(event)
        }
        let before = try harness.value("/p/items")
        #expect(before == "[\(item("a", "z")),\(item("c")),\(item("d"))]")
        harness.restart()
        #expect(try harness.value("/p/items") == before)
    }

    @Test func `elements that transient events add and remove again and again do not fill the log`() throws {
        for _ in 0..<600 {
            try harness.dispatch(#"[{"quietInsert":{"id":"d","at":0}},{"quietRetitle":{"id":"a","title":"x"}}]"#)
            try harness.dispatch(#"{"quietDrop":"d"}"#)
        }
        try harness.dispatch(#"{"add":1}"#)
        let key = harness.key
        let engine = harness.storage
        let stored = try harness.ask { engine.load(key, reply: $0) }
        #expect(try #require(stored?.tail.last).changes.count < 100_000)
        let before = try harness.value("/p/items")
        harness.restart()
        #expect(try harness.value("/p/items") == before)
    }

    @Test func `too many changes within a collection become one change of the collection`() throws {
        var state = TallyApp().defaultState
        for id in 0...1 {
            var group = Group()
            group.id = id
            state.p.groups.append(group)
        }
        let insides = (0...1_024).map { #"/p/groups/0/items/\#($0)/title"# } + ["/p/groups/1/items/x/title"]
        let changes = (["/p/title"] + insides).map {
            StateChange(operation: .replace, path: $0, value: Array(#""x""#.utf8))
        }
        #expect(
            changes.condensed(for: state).map(\.path) == ["/p/title", "/p/groups/1/items/x/title", "/p/groups/0/items"]
        )
        let elements = (0...1_024).map {
            StateChange(operation: .replace, path: "/p/items/\($0)/title", value: Array(#""x""#.utf8))
        }
        let condensed = elements.condensed(for: state)
        #expect(condensed == [StateChange(operation: .replace, path: "/p/items", value: Array("[]".utf8))])
        #expect(Array(elements.dropLast()).condensed(for: state).count == 1_024)
    }

    @Test func `later changes replace earlier changes at the same path, be they few or many`() {
        let earlier = ["/a", "/a/b", "/a/bc", "/d", "/e/f"].map {
            StateChange(operation: .replace, path: $0, value: Array("1".utf8))
        }
        let later = [
            StateChange(operation: .replace, path: "/a/b", value: nil),
            StateChange(operation: .remove, path: "/d", value: nil),
            StateChange(operation: .move, path: "/e", value: nil),
        ]
        let others = (0..<20).map { StateChange(operation: .replace, path: "/o/\($0)", value: nil) }
        #expect(earlier.followed(by: later).dropLast(3).map(\.path) == ["/a", "/a/bc", "/d", "/e/f"])
        #expect(earlier.followed(by: later + others).dropLast(23).map(\.path) == ["/a", "/a/bc", "/d", "/e/f"])
    }

    @Test func `a change has its index in the log and in streams`() throws {
        let change = StateChange(operation: .add, path: "/p/items/a", index: 3, value: Array("{}".utf8))
        let json = [change].logJSON
        #expect(
            String(decoding: json, as: UTF8.self) == #"[{"op":"add","path":"/p/items/a","index":3,"value":{}}]"#
        )
        #expect(try [StateChange](logJSON: json) == [change])
    }
}

extension StreamEvent {
    /// The changes as text.
    fileprivate var changesText: String {
        guard let value = try? JSONValue(parsing: data), let changes = value["changes"] else { return text }
        return String(decoding: changes.jsonBytes(), as: UTF8.self)
    }
}
