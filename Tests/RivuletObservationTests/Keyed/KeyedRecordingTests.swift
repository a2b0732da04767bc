// Checks the changes that are recorded for keyed collections, and the replay of these changes.

import ChangeOracle
import RivuletJSON
import RivuletObservation
import SeededRandom
import Testing

@Suite
struct KeyedRecordingTests {
    /// A state with a collection in every position.
    @ObservableState
    struct Board: Equatable, Sendable {
        var tasks: Keyed<Task> = [Task(id: "a"), Task(id: "b"), Task(id: "c"), Task(id: "d")]
        @ObservableStateWrapper(Box<Keyed<Task>>.self)
        @ObservationStateIgnored
        var boxed: Keyed<Task> = [Task(id: "a")]
        var maybe: Keyed<Task>?
        @Transient var passing: Keyed<Task> = []
        var groups: Keyed<OracleGroup> = [OracleGroup(id: 1, elements: [OracleElement(id: "~/")])]
        @ObservableStateWrapper(PresentationState<Tasks>.self)
        @ObservationStateIgnored
        var shown: Tasks?
        @ObservableStateWrapper(OmitCoding<Keyed<Task>>.self)
        @ObservationStateIgnored
        var omitted: Keyed<Task> = []
    }

    private func record(_ board: Board = Board(), _ body: (inout Board) -> Void) -> [String] {
        var board = board
        return ChangeRecorder.record(&board, body).changes.map(\.operationText)
    }

    @Test
    func `a field of an element is one change at its path`() {
        #expect(record { $0.tasks[id: "b"]?.title = "x" } == [#"replace /tasks/b/title "x""#])
        #expect(record { $0.boxed[id: "a"]?.title = "x" } == [#"replace /boxed/a/title "x""#])
        #expect(
            record { $0.groups[id: 1]?.elements[id: "~/"]?.text = "x" } == [
                #"replace /groups/1/elements/~0~1/text "x""#
            ]
        )
    }

    @Test
    func `an edit that changes nothing is not recorded`() {
        #expect(
            record { board in
                board.tasks[id: "b"]?.title += ""
                board.tasks[id: "none"]?.title = "x"
                board.tasks.append(Task(id: "a", title: "x"))
                board.tasks.append(Task(id: "e"))
                board.tasks.remove(id: "e")
                board.tasks.move(id: "a", to: 3)
                board.tasks.move(id: "a", to: 0)
                board.tasks = Keyed(Array(board.tasks))
            } == []
        )
    }

    @Test
    func `an added element is recorded with its index and its value`() {
        #expect(
            record { $0.tasks.append(Task(id: "e")) } == [#"add /tasks/e 4 {"id":"e","title":"","notes":[]}"#]
        )
        #expect(
            record { $0.tasks.insert(Task(id: "e"), at: 1) } == [
                #"add /tasks/e 1 {"id":"e","title":"","notes":[]}"#
            ]
        )
    }

    @Test
    func `a removed element is recorded by its id, and removals precede additions`() {
        #expect(record { $0.tasks[id: "b"] = nil } == ["remove /tasks/b"])
        #expect(
            record { board in
                board.tasks.append(Task(id: "e"))
                board.tasks.remove(id: "a")
                board.tasks.remove(id: "d")
                board.tasks[id: "c"]?.title = "x"
            } == [
                "remove /tasks/a", "remove /tasks/d", #"replace /tasks/c/title "x""#,
                #"add /tasks/e 2 {"id":"e","title":"","notes":[]}"#,
            ]
        )
    }

    @Test
    func `a move of one element is one change over any distance`() {
        #expect(record { $0.tasks.move(id: "a", to: 3) } == ["move /tasks/a 3"])
        #expect(record { $0.tasks.move(id: "d", to: 0) } == ["move /tasks/d 0"])
    }

    @Test
    func `the index of a change refers to the order after the earlier changes`() {
        #expect(
            record { $0.tasks.sort { $0.id > $1.id } } == ["move /tasks/d 0", "move /tasks/c 1", "move /tasks/b 2"]
        )
        #expect(
            record { board in
                board.tasks.move(id: "b", to: 3)
                board.tasks.insert(Task(id: "e"), at: 1)
            } == [#"add /tasks/e 1 {"id":"e","title":"","notes":[]}"#, "move /tasks/b 4"]
        )
    }

    @Test
    func `an element replaced by a new value is one change, even if only one field differs`() {
        let change = #"replace /tasks/a {"id":"a","title":"x","notes":[]}"#
        #expect(record { $0.tasks[id: "a"] = Task(id: "a", title: "x") } == [change])
        #expect(record { $0.tasks.updateOrAppend(Task(id: "a", title: "x")) } == [change])
        let kept = Task(id: "a", title: "x")
        #expect(record { $0.tasks[id: "a"] = kept } == [change])
    }

    @Test
    func `an edited copy of an element is recorded by field under its own id, and as a whole under another id`() {
        #expect(
            record { board in
                board.tasks[id: "a"]?.notes = ["n"]
                guard var copy = board.tasks[id: "a"] else { return }
                copy.title = "x"
                board.tasks[id: "a"] = copy
                copy.id = "b"
                board.tasks[id: "b"] = copy
            } == [
                #"replace /tasks/a/title "x""#, #"replace /tasks/a/notes ["n"]"#,
                #"replace /tasks/b {"id":"b","title":"x","notes":["n"]}"#,
            ]
        )
    }

    @Test
    func `an element with a changed id is recorded as a removal and an addition`() {
        #expect(
            record { $0.tasks[id: "b"]?.id = "e" } == [
                "remove /tasks/b", #"add /tasks/e 1 {"id":"e","title":"","notes":[]}"#,
            ]
        )
    }

    @Test
    func `an id with other bytes is another element for a client, though Swift's strings are equal`() {
        #expect(
            record(Board(tasks: [Task(id: "é")])) { $0.tasks[id: "é"]?.id = "e\u{301}" } == [
                "remove /tasks/é", "add /tasks/e\u{301} 0 {\"id\":\"e\u{301}\",\"title\":\"\",\"notes\":[]}",
            ]
        )
    }

    @Test
    func `a replaced collection is compared element by element`() {
        #expect(
            record { $0.tasks = [Task(id: "d"), Task(id: "a", title: "x"), Task(id: "b"), Task(id: "c")] } == [
                #"replace /tasks/a {"id":"a","title":"x","notes":[]}"#, "move /tasks/d 0",
            ]
        )
        var older = Board()
        older.tasks[id: "c"]?.title = "x"
        #expect(
            ChangeRecorder.differences(from: older, to: Board()).map(\.operationText) == [
                #"replace /tasks/c {"id":"c","title":"","notes":[]}"#
            ]
        )
    }

    @Test
    func `an optional collection that is set or cleared is one change`() {
        #expect(record { $0.maybe = [] } == ["replace /maybe []"])
        #expect(record(Board(maybe: [])) { $0.maybe = nil } == ["replace /maybe null"])
        #expect(
            record(Board(maybe: [Task(id: "a")])) { $0.maybe?[id: "a"]?.title = "x" } == [
                #"replace /maybe/a/title "x""#
            ]
        )
        #expect(
            record(Board(shown: Tasks(tasks: [Task(id: "a")]))) { $0.shown?.tasks[id: "a"]?.title = "x" } == [
                #"replace /shown/tasks/a/title "x""#
            ]
        )
    }

    @Test
    func `a transient collection, and a transient field of an element, are never on disk`() {
        #expect(
            record { $0.passing.append(Task(id: "a")) } == [
                #"add /passing/a 0 {"id":"a","title":"","notes":[]} transient"#
            ]
        )
        var board = Board()
        let recording = ChangeRecorder.record(&board) { board in
            board.groups[id: 1]?.elements[id: "~/"]?.seen = 1
            board.groups[id: 1]?.elements.append(OracleElement(id: "b", seen: 7))
        }
        #expect(recording.changes.map(\.isTransient) == [true, false])
        let durable = recording.changes[1].durableValue.map { String(decoding: $0, as: UTF8.self) } ?? ""
        #expect(!durable.contains("seen"))
    }

    @Test
    func `a write to an omitted collection is no change`() {
        #expect(record { $0.omitted.append(Task(id: "a")) } == [])
    }

    @Test
    func `a coercion in an element has the element's path`() {
        var board = Board()
        let recording = ChangeRecorder.record(&board) { board in
            board.groups[id: 1]?.level = 99
            board.groups.append(OracleGroup(id: 2))
            board.groups[id: 2]?.level = 77
        }
        #expect(recording.coercions.map(\.text) == ["/groups/1/level: 99 -> 5", "/groups/2/level: 77 -> 5"])
    }

    @Test
    func `edits of all 1,000 elements become one replacement of the collection`() {
        var few = Tasks(tasks: Keyed((0..<1_000).map { Task(id: "\($0)") }))
        var many = few
        #expect(ChangeRecorder.record(&few) { $0.tasks = Keyed($0.tasks.dropFirst(300)) }.changes.count == 300)
        let recording = ChangeRecorder.record(&many) { state in
            for id in state.tasks.ids { state.tasks[id: id]?.title = "x" }
        }
        #expect(recording.changes.map(\.path) == ["/tasks"])
        #expect(recording.changes.first?.value == many.tasks.jsonBytes())
        #expect(many.tasks.map(\.id) == (0..<1_000).map { "\($0)" })
        #expect(many.tasks.allSatisfy { $0.title == "x" })
    }

    @Test
    func `a number that JSON cannot carry is found in an added element`() {
        var state = Ratios()
        #expect(ChangeRecorder.record(&state) { $0.ratios.append(Ratio(id: 1, ratio: .nan)) }.hasUnrepresentableNumber)
    }

    @Test(arguments: UInt64(0)..<40)
    func `a recording has no more moves than moved elements`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let ids = (0..<30).map { "\($0)" }.shuffled(using: &generator)
        var state = Tasks(tasks: Keyed(ids.prefix(20).map { Task(id: $0) }))
        let before = try JSONValue(parsing: state.jsonBytes())
        let moved = Int.random(in: 0...3, using: &generator)
        let recording = ChangeRecorder.record(&state) { state in
            for id in ids.prefix(moved) { state.tasks.move(id: id, to: Int.random(in: 0..<20, using: &generator)) }
            for id in ids.dropFirst(15) where Bool.random(using: &generator) {
                if state.tasks.remove(id: id) == nil {
                    state.tasks.insert(Task(id: id), at: Int.random(in: 0...state.tasks.count, using: &generator))
                }
            }
        }
        #expect(recording.changes.count { $0.operation == .move } <= moved)
        let after = try recording.changes.reduce(before) { try #require(try $0.applying($1, $1.value)) }
        #expect(after.jsonBytes() == state.jsonBytes())
    }

    @Test(arguments: [
        (StateChange.Operation.remove, "/tasks/z"), (.move, "/tasks/z"), (.replace, "/tasks/z/title"),
        (.remove, "/tasks"), (.add, "/tasks/a/title"), (.move, "/maybe"),
    ])
    func `a replay of an impossible change is an error and writes nothing`(
        operation: StateChange.Operation,
        path: String
    ) throws {
        var board = Board()
        var reader = JSONReader([UInt8]("[]".utf8))
        let tokens = try JSONPointer(parsing: path).tokens
        #expect(throws: JSONError.self) {
            try board._$apply(operation, at: tokens[...], index: 0, json: &reader)
        }
        #expect(board == Board())
    }

    @Test
    func `a replay of an index past the end adds at the end`() throws {
        var board = Board()
        var reader = JSONReader([UInt8](#"{"id":"e"}"#.utf8))
        try board._$apply(.add, at: ["tasks", "e"], index: 99, json: &reader)
        reader = JSONReader([UInt8]("null".utf8))
        try board._$apply(.move, at: ["tasks", "a"], index: 99, json: &reader)
        #expect(board.tasks.ids == ["b", "c", "d", "e", "a"])
    }

    @Test
    func `the fields of elements are described below the collection`() throws {
        let fields = Dictionary(uniqueKeysWithValues: Board._$fields.map { ($0.name, $0) })
        #expect(fields["tasks"]?.nested?().map(\.name) == ["id", "title", "notes"])
        #expect(fields["maybe"]?.nested?().map(\.name) == ["id", "title", "notes"])
        #expect(fields["boxed"]?.schema.keyedDepth == 1)
        #expect(Board.jsonSchema.accepts(path: ["groups", "1", "elements", "x", "text"]))
        #expect(!Board.jsonSchema.accepts(path: ["tasks", "a", "none"]))
    }
}

/// An element with a number that JSON may not be able to represent.
@ObservableState
struct Ratio: Equatable, Sendable, Identifiable {
    var id = 0
    var ratio = 0.0
}

/// A state with a collection of ratios.
@ObservableState
struct Ratios: Equatable, Sendable {
    var ratios: Keyed<Ratio> = []
}

extension StateChange {
    /// The change in one line, with its operation and index.
    var operationText: String {
        [
            operation.rawValue, path, index.map { "\($0)" }, value.map { String(decoding: $0, as: UTF8.self) },
            isTransient ? "transient" : nil,
        ].compactMap { $0 }.joined(separator: " ")
    }
}
