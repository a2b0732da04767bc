// This file owns the tests of enums in states: their JSON, their key paths, and edits of payloads in place.

import Foundation
import RivuletJSON
import RivuletObservation
import RivuletSchema
import Testing

@Suite
struct ObservableEnumTests {
    static let modes: [(json: String, mode: Mode)] = [
        (#""idle""#, .idle),
        (#"{"editing":{"city":"x","zip":1}}"#, .editing(Address(city: "x", zip: 1))),
        (#"{"failed":{"code":1,"reason":"x"}}"#, .failed(code: 1, reason: "x")),
        (#"{"counting":5}"#, .counting(5)),
        (#"{"table":{"a":1}}"#, .table(["a": 1])),
        (#"{"table":{"_0":{"_0":7}}}"#, .table(["_0": 7])),
        (#"{"maybe":null}"#, .maybe(nil)),
        (#"{"maybe":{"city":"x","zip":1}}"#, .maybe(Address(city: "x", zip: 1))),
        (#"{"plain":{"x":3}}"#, .plain(SamplePlain(x: 3))),
        (#"{"screen":"home"}"#, .screen(.home)),
        (#"{"screen":{"detail":{"city":"x","zip":1}}}"#, .screen(.detail(Address(city: "x", zip: 1)))),
        (#""default""#, .default),
        (#"{"pair":{"_0":1,"_1":{"city":"x","zip":1}}}"#, .pair(1, Address(city: "x", zip: 1))),
        (#"{"labelled":{"address":{"city":"x","zip":1}}}"#, .labelled(address: Address(city: "x", zip: 1))),
    ]

    @Test(arguments: modes)
    func `a value is written in its short form and reads back`(json: String, mode: Mode) throws {
        #expect(mode.json == json)
        #expect(try Mode(jsonBytes: [UInt8](json.utf8)) == mode)
        #expect(try JSONDecoder().decode(Mode.self, from: JSONEncoder().encode(mode)) == mode)
    }

    @Test
    func `a case named none is read as that case, not as nil`() throws {
        #expect(try Plan(jsonBytes: [UInt8](#""none""#.utf8)) == Plan.none)
    }

    @Test(arguments: [
        (#"{"idle":{}}"#, Mode.idle),
        (#"{"editing":{"_0":{"city":"x"}}}"#, .editing(Address(city: "x"))),
        (#"{"editing":{}}"#, .editing(Address())),
        (#"{"failed":{"code":1}}"#, .failed(code: 1)),
        (#""maybe""#, .maybe(nil)),
        (#"{"screen":{"_0":{"detail":{"_0":{"zip":1}}}}}"#, .screen(.detail(Address(zip: 1)))),
    ])
    func `other forms are read too`(json: String, mode: Mode) throws {
        #expect(try Mode(jsonBytes: [UInt8](json.utf8)) == mode)
    }

    @Test(arguments: [
        (#""gone""#, "there is no case \"gone\"; use one of idle, editing, failed", ""),
        ("5", "expected a case", ""),
        ("{}", "a case is an object whose only key is its name; found 0 keys", ""),
        (#"{"idle":1}"#, "because the case \"idle\" has no values", "/idle"),
        (#"{"editing":{"zip":"x"}}"#, "expected", "/editing/zip"),
        (#"{"editing":{"_0":{"zip":"x"}}}"#, "expected", "/editing/_0/zip"),
        (#"{"failed":{"reason":"x"}}"#, "the case \"failed\" needs the key \"code\"", "/failed"),
        (#"{"screen":{"detail":{"zip":""}}}"#, "expected", "/screen/detail/zip"),
    ])
    func `an error has a detail and a pointer`(json: String, detail: String, pointer: String) {
        let error = #expect(throws: JSONError.self) { try Mode(jsonBytes: [UInt8](json.utf8)) }
        #expect(error?.detail.contains(detail) == true, "\(error?.detail ?? "")")
        #expect(error?.pointer == pointer)
    }

    @Test
    func `a payload's own key _0 is not taken for Swift's form`() throws {
        let value = Underscored.value(Underscore(_0: "x"))
        #expect(value.json == #"{"value":{"_0":"x"}}"#)
        #expect(try Underscored(jsonBytes: value.jsonBytes()) == value)
    }

    // MARK: - Edits in place

    @Test
    func `an edit of a payload in place is recorded at its key path`() {
        var state = Workspace(mode: .editing(Address()))
        #expect(changes(&state) { $0.mode.editing?.city = "x" } == [#"/mode/editing/city "x""#])
        #expect(changes(&state) { $0.mode.editing?.city = "x" } == [])
        #expect(changes(&state) { $0.mode.counting? += 1 } == [])
        #expect(
            changes(&state) {
                $0.mode.editing?.city = "y"
                $0.mode.editing?.zip = 1
            } == [#"/mode/editing/city "y""#, "/mode/editing/zip 1"]
        )
    }

    @Test
    func `a new case is one change of the enum, and so is a new payload`() {
        var state = Workspace(mode: .editing(Address()))
        #expect(changes(&state) { $0.mode = .counting(1) } == [#"/mode {"counting":1}"#])
        #expect(changes(&state) { $0.mode.counting? += 1 } == [#"/mode {"counting":2}"#])
        #expect(
            changes(&state) { $0.mode = .editing(Address(city: "x")) } == [
                #"/mode {"editing":{"city":"x","zip":3000}}"#
            ]
        )
        #expect(changes(&state) { $0.mode = .editing(Address(city: "x")) } == [])
        #expect(
            changes(&state) {
                $0.mode = .idle
                $0.mode = .editing(Address(city: "y"))
            } == [#"/mode {"editing":{"city":"y","zip":3000}}"#]
        )
    }

    @Test
    func `a payload that moves to another case of its type is one change of the enum`() {
        var state = Workspace(both: .left(Address()))
        let moved = changes(&state) { state in
            state.both.left?.city = "x"
            if let address = state.both.left { state.both = .right(address) }
            state.both.right?.zip = 1
        }
        #expect(moved == [#"/both {"right":{"city":"x","zip":1}}"#])
    }

    @Test
    func `payloads in optionals, wrappers and enums have key paths too`() {
        var state = Workspace(mode: .screen(.detail(Address())), maybe: .maybe(Address()))
        #expect(changes(&state) { $0.mode.screen?.detail?.zip = 1 } == ["/mode/screen/detail/zip 1"])
        #expect(changes(&state) { $0.maybe?.maybe??.zip = 1 } == ["/maybe/maybe/zip 1"])
        #expect(changes(&state) { $0.boxed.editing?.zip = 1 } == ["/boxed/editing/zip 1"])
        #expect(changes(&state) { $0.mode.screen = .home } == [#"/mode {"screen":"home"}"#])
        #expect(changes(&state) { $0.section = .editing(Address(zip: 1)) } == ["/section/editing/zip 1"])
    }

    @Test
    func `elements of a collection in a case have key paths`() throws {
        var state = Workspace(mode: .pages([Page(id: "a"), Page(id: "b")]))
        let before = state
        #expect(changes(&state) { $0.mode.pages?[id: "b"]?.text = "x" } == [#"/mode/pages/b/text "x""#])
        let added = ChangeRecorder.record(&state) { $0.mode.pages?.append(Page(id: "c")) }
        #expect(added.changes.map(\.operation) == [.add])
        #expect(added.changes.map(\.path) == ["/mode/pages/c"])
        var replayed = before
        var reader = JSONReader([UInt8](#""y""#.utf8))
        try replayed._$replace(at: ["mode", "pages", "a", "text"], json: &reader)
        #expect(replayed.mode.pages?[id: "a"]?.text == "y")
        let derived = state.observe { $0.mode.pages?[id: "a"]?.text }
        #expect(derived.keyPaths == ["/mode/pages/a/text"])
    }

    @Test
    func `changes of transient fields in a payload, and of a transient enum, are transient`() {
        var state = Workspace(ledger: .open(Book()))
        let recording = ChangeRecorder.record(&state) {
            $0.ledger.open?.isOpen = true
            $0.passing.editing?.zip = 1
        }
        #expect(recording.changes.map(\.path) == ["/passing/editing/zip", "/ledger/open/isOpen"])
        #expect(recording.changes.map(\.isTransient) == [true, true])
        let replaced = ChangeRecorder.record(&state) { $0.ledger = .open(Book(entries: [1], isOpen: true)) }
        #expect(replaced.changes.map(\.durableValue) == [[UInt8](#"{"open":{"entries":[1]}}"#.utf8)])
    }

    @Test
    func `a value written to a case's variable sets the enum to this case`() {
        var mode = Mode.idle
        mode.editing = Address()
        #expect(mode == .editing(Address()))
        mode.counting = 3
        #expect(mode == .counting(3))
        #expect(mode.editing == nil)
    }

    @Test
    func `nil written to the present case's variable sets the enum to the first case without values, if any`() {
        var mode = Mode.counting(3)
        mode.editing = nil
        #expect(mode == .counting(3))
        mode.counting = nil
        #expect(mode == .idle)
        var both = Both.left(Address())
        both.left = nil
        #expect(both == .left(Address()))
        var only = Only.one(Address())
        only.one?.zip = 1
        #expect(only == .one(Address(zip: 1)))
    }

    @Test
    func `a throw in the middle of an edit keeps the payload in its case`() {
        struct Interruption: Error {}
        func edit(_ address: inout Address?) throws {
            address?.city = "x"
            throw Interruption()
        }
        var mode = Mode.editing(Address())
        #expect(throws: Interruption.self) { try edit(&mode.editing) }
        #expect(mode == .editing(Address(city: "x")))
    }

    @Test
    func `a large payload is not copied by an edit in place`() {
        var state = Workspace(ledger: .open(Book(entries: Array(repeating: 0, count: 1000))))
        state.ledger.open?.entries.reserveCapacity(2000)
        func address() -> UInt? {
            guard case .open(let book) = state.ledger else { return nil }
            return unsafe book.entries.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        }
        let before = address()
        state.ledger.open?.entries.append(1)
        #expect(address() == before)
    }

    @Test
    func `a handwritten member replaces the generated member`() {
        #expect(Load<Int>.failed("x").failed)
        #expect(Load<Int>.again(.loaded(3)).again?.loaded == 3)
    }

    // MARK: - Paths and tables

    @Test(
        arguments: [
            (Mode.editing(Address()), "/editing/zip", "3000"),
            (.editing(Address()), "/editing", #"{"city":"Bern","zip":3000}"#),
            (.counting(5), "/counting", "5"), (.failed(code: 1, reason: "x"), "/failed/code", "1"),
            (.pair(1, Address()), "/pair/_1/zip", "3000"), (.screen(.detail(Address())), "/screen/detail/zip", "3000"),
            (.table(["a": 1]), "/table/a", "1"), (.plain(SamplePlain()), "/plain", #"{"x":1}"#),
            (.idle, "/editing/zip", nil), (.idle, "/idle", nil), (.counting(5), "/counting/x", nil),
            (.editing(Address()), "/failed/code", nil),
        ] as [(Mode, String, String?)]
    )
    func `a value is read by its key path`(mode: Mode, path: String, json: String?) throws {
        var writer = JSONWriter()
        let isFound = mode.encodeJSON(at: try JSONPointer(parsing: path).tokens[...], into: &writer)
        #expect((isFound ? String(decoding: writer.bytes, as: UTF8.self) : nil) == json)
    }

    @Test
    func `a recorded path into a case other than the present one is refused`() throws {
        var mode = Mode.idle
        var reader = JSONReader([UInt8]("1".utf8))
        #expect(throws: JSONError.self) { try mode._$replace(at: ["editing", "zip"], json: &reader) }
        mode = .editing(Address())
        reader = JSONReader([UInt8]("1".utf8))
        try mode._$replace(at: ["editing", "zip"], json: &reader)
        #expect(mode == .editing(Address(zip: 1)))
    }

    @Test
    func `the field table lists the cases with one payload value`() {
        let mode = Workspace._$fields.first { $0.name == "mode" }
        let cases = mode?.nested?() ?? []
        #expect(cases.map(\.name) == ["editing", "counting", "table", "maybe", "plain", "screen", "pages"])
        #expect(cases[0].nested?().map(\.name) == ["city", "zip"])
        #expect(cases[3].nested?().map(\.name) == ["city", "zip"])
        #expect(cases[5].nested?().map(\.name) == ["detail"])
        #expect(cases[1].nested == nil)
        #expect(Workspace._$fields.first { $0.name == "maybe" }?.nested?().count == 7)
        #expect(Names._$fields.isEmpty)
    }

    @Test
    func `the schema has one shape for each case, and a reference for a recursive type`() {
        let schema = Workspace.jsonSchema
        #expect(schema.accepts(path: ["mode", "editing", "city"]))
        #expect(schema.accepts(path: ["mode", "failed", "code"]))
        #expect(!schema.accepts(path: ["mode", "editing", "street"]))
        let definition = schema.document["$defs"]?["Mode"]
        #expect(definition?["oneOf"]?.elements?.count == 12)
        #expect(definition?["oneOf"]?[0] == ["type": "string", "const": "idle"])
        #expect(schema.document["properties"]?["mode"]?["$ref"] == "#/$defs/Mode")
        let load = Load<Int>.jsonSchema
        #expect(load.document["oneOf"]?[2]?["properties"]?["again"]?["$ref"] == "#")
        #expect(load.accepts(path: ["again", "again", "loaded"]))
    }

    // MARK: - Reads

    @Test
    func `a derived value depends on the part of a payload that it reads`() {
        var state = Workspace(mode: .editing(Address()))
        var derived = state.observe { $0.mode.editing?.city }
        #expect(derived.keyPaths == ["/mode/editing/city"])
        #expect(!update(&derived, &state) { $0.mode.editing?.zip = 1 })
        #expect(update(&derived, &state) { $0.mode.editing?.city = "x" })
        #expect(derived.value == "x")
        #expect(update(&derived, &state) { $0.mode = .idle })
        #expect(derived.value == nil)
        #expect(derived.keyPaths == ["/mode"])
        #expect(!update(&derived, &state) { $0.title = "x" })
        #expect(update(&derived, &state) { $0.mode = .editing(Address()) })
        #expect(derived.value == "Bern")
    }

    @Test
    func `a derived value that switches over cases depends on the enum`() {
        var state = Workspace(mode: .counting(1))
        var derived = state.observe { if case .counting(let count) = $0.mode { count } else { 0 } }
        #expect(derived.keyPaths == ["/mode"])
        #expect(update(&derived, &state) { $0.mode.counting? += 1 })
        #expect(derived.value == 2)
        #expect(update(&derived, &state) { $0.mode = .screen(.detail(Address())) })
        #expect(derived.keyPaths == ["/mode/screen/detail"])
        #expect(update(&derived, &state) { $0.mode = .counting(7) })
        #expect(derived.value == 7)
    }

    @Test
    func `observers of a payload's field are notified of that field and of a new case only`() {
        let owner = ObservedState(Workspace(mode: .editing(Address())))
        func tells(_ write: (ObservedState<Workspace>) -> Void) -> Bool {
            fires(owner, reading: { _ = $0.state.mode.editing?.city }, writing: write)
        }
        #expect(!tells { $0.state.mode.editing?.zip = 1 })
        #expect(tells { $0.state.mode.editing?.city = "x" })
        #expect(!tells { $0.state.title = "x" })
        #expect(tells { $0.state.mode.editing = nil })
        #expect(tells { $0.state.mode = .editing(Address()) })
        #expect(tells { $0.state = Workspace(mode: .counting(1)) })
    }

    private func changes(_ state: inout Workspace, _ body: (inout Workspace) -> Void) -> [String] {
        ChangeRecorder.record(&state, body).changes.map {
            "\($0.path) \(String(decoding: $0.value ?? [], as: UTF8.self))"
        }
    }

    private func update<Value>(
        _ derived: inout Derived<Workspace, Value>,
        _ state: inout Workspace,
        _ body: (inout Workspace) -> Void
    ) -> Bool {
        let recording = ChangeRecorder.record(&state, body)
        return derived.update(to: state, after: recording.changes)
    }
}

@ObservableState
struct Underscore: Equatable, Sendable {
    // swift-format-ignore: NoLeadingUnderscores
    var _0 = ""
}

@ObservableState
enum Underscored: Equatable, Sendable {
    case value(Underscore)
}
