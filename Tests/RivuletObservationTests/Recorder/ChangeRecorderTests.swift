// This file owns the tests of a run: the record of each kind of write.

import FoundationEssentials
import RivuletJSON
import RivuletObservation
import Testing

@Suite
struct ChangeRecorderTests {
    private struct Rejection: Error, Equatable {}

    @Test
    func `equal writes and edits that change nothing are not recorded`() {
        record { state in
            state.id = "a"
            state.address.zip += 0
            state.address = Address()
            state.nickname = nil
        }.expectNothing()
    }

    @Test
    func `a value written back is not recorded`() {
        record { state in
            state.id = "b"
            state.id = "a"
        }.expectNothing()
    }

    @Test
    func `a method of the type is recorded like any other write`() {
        #expect(record { $0.visit() }.changes.map(\.text) == ["/visits=1"])
    }

    @Test
    func `an edited copy that is dropped is not recorded`() {
        record { state in
            var copy = state.address
            copy.city = "x"
            var root = state
            root.id = "z"
        }.expectNothing()
    }

    @Test
    func `an edited copy of the whole state that is assigned back is recorded by field`() {
        let recording = record { state in
            var copy = state
            copy.address.city = "x"
            state = copy
        }
        #expect(recording.changes.map(\.text) == ["/address/city=\"x\""])
    }

    @Test
    func `a copy edited inside an access and assigned back is recorded by field`() {
        let recording = record { state in
            edit(&state.address) { address in
                var copy = address
                copy.city = "x"
                address = copy
            }
        }
        #expect(recording.changes.map(\.text) == ["/address/city=\"x\""])
    }

    @Test
    func `a new value assigned inside an access is a replacement`() {
        let recording = record { state in edit(&state.address) { $0 = Address(city: "x") } }
        #expect(recording.changes.map(\.text) == [#"/address={"city":"x","zip":3000}"#])
    }

    @Test
    func `an edit after a replacement is part of the replacement`() {
        let recording = record { state in
            state.address = Address(city: "x")
            state.address.zip = 1
        }
        #expect(recording.changes.map(\.text) == [#"/address={"city":"x","zip":1}"#])
    }

    @Test
    func `siblings swapped with each other are two replacements`() {
        var state = OracleMiddle(first: OracleInner(number: 1), second: OracleInner(number: 2))
        let recording = ChangeRecorder.record(&state) { state in
            state.first.text = "x"
            (state.first, state.second) = (state.second, state.first)
        }
        #expect(recording.changes.map(\.path) == ["/first", "/second"])
    }

    @Test
    func `a copy that was kept in an earlier run is recorded as a replacement`() {
        var state = Profile(id: "a")
        var kept: [Profile] = []
        _ = ChangeRecorder.record(&state) { state in
            state.address.city = "x"
            kept.append(state)
        }
        let recording = ChangeRecorder.record(&state) { state in
            state.address.city = "y"
            state = kept[0]
            state.address.zip = 1
        }
        #expect(recording.changes.map(\.text) == [#"/address={"city":"x","zip":1}"#])
    }

    @Test
    func `a throw restores the state`() {
        var state = Profile(id: "a")
        #expect(throws: Rejection()) {
            try ChangeRecorder.record(&state) { state in
                state.address.city = "x"
                state.id = "b"
                throw Rejection()
            }
        }
        #expect(state == Profile(id: "a"))
    }

    @Test
    func `an access that throws keeps its writes if the error is caught`() {
        func fail(_ text: inout String) throws {
            text += "!"
            throw Rejection()
        }
        let recording = record { state in try? fail(&state.address.city) }
        #expect(recording.changes.map(\.text) == ["/address/city=\"Bern!\""])
    }

    @Test
    func `a text with other bytes is a change, though Swift's strings are equal`() {
        var state = Profile(id: "a", nickname: "é")
        let recording = ChangeRecorder.record(&state) { $0.nickname = "e\u{301}" }
        #expect(recording.changes.map(\.path) == ["/nickname"])
    }

    @Test
    func `a write through Swift's key path is recorded as a replacement of the nested value`() {
        let recording = record { $0[keyPath: \.address.city] = "x" }
        #expect(recording.changes.map(\.text) == [#"/address={"city":"x","zip":3000}"#])
    }

    @Test
    func `a document merged in a run is recorded by field`() throws {
        var state = Profile(id: "a")
        let recording = try ChangeRecorder.record(&state) { state in
            var reader = JSONReader([UInt8](#"{"address":{"zip":9},"nickname":"n"}"#.utf8))
            try state._$merge(json: &reader)
        }
        #expect(recording.changes.map(\.text) == ["/address/zip=9", "/nickname=\"n\""])
    }

    @Test
    func `a number that JSON cannot carry is refused by an encoder too`() {
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(Tree(ratio: .nan)) }
        #expect(throws: Never.self) { try JSONEncoder().encode(Tree(ratio: 0.5)) }
    }

    @Test
    func `a number that JSON cannot carry is reported`() {
        var tree = Tree(ratio: 0.5)
        #expect(ChangeRecorder.record(&tree) { $0.ratio = .nan }.hasUnrepresentableNumber)
        tree = Tree(ratio: nil)
        #expect(ChangeRecorder.record(&tree) { $0.ratio = .infinity }.hasUnrepresentableNumber)
        tree = Tree(ratio: nil)
        #expect(!ChangeRecorder.record(&tree) { $0.ratio = 1 }.hasUnrepresentableNumber)
    }

    @Test
    func `elements with transient fields have another form on disk`() throws {
        var tree = Tree(children: [Tree(name: "a")])
        let shown = ChangeRecorder.record(&tree) { $0.children[0].isOpen = true }
        #expect(shown.changes.map(\.isTransient) == [true])
        let named = ChangeRecorder.record(&tree) { $0.children[0].name = "b" }
        let change = try #require(named.changes.first)
        #expect(!change.isTransient)
        let stored = try JSONValue(parsing: #require(change.durableValue))
        #expect(stored[0]?["isOpen"] == nil)
        #expect(stored[0]?["name"] == "b")
        let renamed = ChangeRecorder.record(&tree) { $0.name = "c" }
        #expect(renamed.changes.first?.durableValue == nil)
    }

    @Test
    func `a run inside a run is recorded by both`() {
        var state = Profile(id: "a")
        var inner = Recording()
        let outer = ChangeRecorder.record(&state) { state in
            inner = ChangeRecorder.record(&state.address) { $0.city = "x" }
        }
        #expect(inner.changes.map(\.text) == ["/city=\"x\""])
        #expect(outer.changes.map(\.text) == [#"/address={"city":"x","zip":3000}"#])
    }

    @Test
    func `a replay of the recorded change leads to the same state`() throws {
        var state = Profile(id: "a")
        var copy = state
        let recording = ChangeRecorder.record(&state) { $0.address.zip = 5 }
        for change in recording.changes {
            var reader = JSONReader(try #require(change.value))
            try copy._$replace(at: JSONPointer(parsing: change.path).tokens[...], json: &reader)
        }
        #expect(copy == state)
    }

    @Test(arguments: ["/x", "/id/x", "/address/x", "/visits/0"])
    func `a replay to a missing path is an error`(path: String) throws {
        var state = Profile(id: "a")
        let tokens = try JSONPointer(parsing: path).tokens
        var reader = JSONReader([UInt8]("1".utf8))
        let error = #expect(throws: JSONError.self) { try state._$replace(at: tokens[...], json: &reader) }
        #expect(error?.kind == .mismatch)
        #expect(state == Profile(id: "a"))
    }

    @Test
    func `a comparison of two states reports the fields of the halves, and no deeper paths`() {
        var old = CounterState()
        let new = CounterState()
        old.p.limits.warnAt = 1
        old.p.title = "x"
        old.t.lastEvent = "y"
        let expected = [
            #"/p/title="Counter""#, #"/p/limits={"warnAt":80,"label":"near the top"}"#, "/t/lastEvent=null transient",
        ]
        #expect(ChangeRecorder.differences(from: old, to: new).map(\.text) == expected)
    }

    private func record(_ body: (inout Profile) -> Void) -> Recording {
        var state = Profile(id: "a")
        return ChangeRecorder.record(&state, body)
    }

    private func edit<Value>(_ value: inout Value, _ body: (inout Value) -> Void) {
        body(&value)
    }
}
