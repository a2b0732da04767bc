// This file owns the tests of the observers that a keyed collection notifies, and of derived values that read one.

import Foundation
import Observation
import RivuletJSON
import RivuletObservation
import Testing

@ObservableState
struct Chore: Equatable, Sendable, Identifiable {
    var id: String
    var title = ""
    var done = false
    var steps = Keyed<Part>()
}

@ObservableState
struct Part: Equatable, Sendable, Identifiable {
    var id: Int
    var text = ""
}

@ObservableState
struct Ticket: Equatable, Sendable, Identifiable {
    var id: UUID
    var title = ""
}

@ObservableState
struct ChoreBoard: Equatable, Sendable {
    var tasks: Keyed<Chore> = [Chore(id: "a"), Chore(id: "b"), Chore(id: "title")]
    @ObservableStateWrapper(OmitCoding<String?>.self)
    @ObservationStateIgnored
    var note: String?
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...10)
    @ObservationStateIgnored
    var limit: Int = 5
}

@Suite
struct ObservedKeyedTests {
    private let owner = ObservedState(ChoreBoard())

    private func tells(
        _ read: (ObservedState<ChoreBoard>) -> Void,
        of write: (ObservedState<ChoreBoard>) -> Void
    ) -> Bool {
        fires(owner, reading: read, writing: write)
    }

    @Test
    func `a change of an element's field notifies all readers of the field, and no other reader`() {
        #expect(tells({ _ = $0.state.tasks[id: "a"]?.done }, of: { $0.state.tasks[id: "a"]?.done.toggle() }))
        #expect(!tells({ _ = $0.state.tasks[id: "b"]?.done }, of: { $0.state.tasks[id: "a"]?.done.toggle() }))
        #expect(!tells({ _ = $0.state.tasks[id: "a"]?.title }, of: { $0.state.tasks[id: "a"]?.done.toggle() }))
        #expect(!tells({ _ = $0.state.tasks.count }, of: { $0.state.tasks[id: "a"]?.done.toggle() }))
        #expect(tells({ _ = $0.state.tasks.filter(\.done).count }, of: { $0.state.tasks[id: "a"]?.done.toggle() }))
        #expect(tells({ _ = $0.state.tasks.map(\.done) }, of: { $0.state.tasks[id: "a"]?.done.toggle() }))
    }

    @Test
    func `an added, removed or moved element notifies readers of the order and readers of its id`() {
        #expect(tells({ _ = $0.state.tasks.count }, of: { $0.state.tasks.append(Chore(id: "c")) }))
        #expect(tells({ _ = $0.state.tasks.filter(\.done) }, of: { $0.state.tasks.append(Chore(id: "d")) }))
        #expect(tells({ _ = $0.state.tasks.ids }, of: { $0.state.tasks.move(id: "d", to: 0) }))
        #expect(tells({ _ = $0.state.tasks.contains(id: "e") }, of: { $0.state.tasks.append(Chore(id: "e")) }))
        #expect(tells({ _ = $0.state.tasks[id: "e"]?.title }, of: { $0.state.tasks.remove(id: "e") }))
        #expect(!tells({ _ = $0.state.tasks[id: "a"]?.title }, of: { $0.state.tasks.remove(id: "d") }))
    }

    @Test
    func `a replaced state notifies a reader of the order that also read an element`() {
        let element = { (owner: ObservedState<ChoreBoard>) in _ = owner.state.tasks[id: "a"]?.title }
        let withoutFirst = ChoreBoard(tasks: [Chore(id: "b"), Chore(id: "title")])
        #expect(
            tells(
                { owner in
                    element(owner)
                    withObservationTracking {
                        element(owner)
                    } onChange: {
                    }
                    _ = owner.state.tasks.count
                },
                of: { $0.state = withoutFirst }
            )
        )
        #expect(
            tells(
                { _ = $0.state.tasks[id: "title"]?.done },
                of: { owner in
                    owner.state = ChoreBoard(tasks: [Chore(id: "b"), Chore(id: "title", done: true)])
                }
            )
        )
        #expect(
            !tells(
                { _ = $0.state.tasks[id: "b"]?.done },
                of: { owner in
                    owner.state = ChoreBoard(tasks: [Chore(id: "b"), Chore(id: "title", title: "x", done: true)])
                }
            )
        )
    }

    @Test
    func `a replaced state notifies readers of an omitted field`() {
        #expect(tells({ _ = $0.state.note }, of: { $0.state = ChoreBoard(note: "x") }))
    }

    @Test
    func `a derived value depends on the elements that it reads by id, or on the order if it iterates`() {
        let board = ChoreBoard()
        #expect(board.observe { $0.tasks[id: "a"]?.title }.keyPaths == ["/tasks/a/title"])
        #expect(board.observe { $0.tasks[id: "x"] == nil }.keyPaths == ["/tasks/x"])
        #expect(board.observe { $0.tasks.count }.keyPaths == ["/tasks"])
        let counted = board.observe { ($0.tasks[id: "a"]?.title, $0.tasks.filter(\.done).count) }
        #expect(counted.keyPaths.contains("/tasks"))
    }

    @Test
    func `a write that a wrapper does not change removes the record of an earlier coercion`() {
        var board = ChoreBoard()
        let recording = ChangeRecorder.record(&board) { board in
            var copy = board
            copy.limit = 999
            board.limit = 7
        }
        #expect(recording.coercions.isEmpty)
        let last = ChangeRecorder.record(&board) { board in
            board.limit = 8
            board.limit = 999
        }
        #expect(last.coercions.count == 1)
    }

    @Test
    func `collections in elements merge their edits between runs too`() {
        var board = ChoreBoard()
        board.tasks[id: "a"]?.steps = [Part(id: 1), Part(id: 2), Part(id: 3)]
        for run in 0..<20 {
            _ = ChangeRecorder.record(&board) { $0.tasks[id: "a"]?.steps[id: run % 3 + 1]?.text = "\(run)" }
        }
        #expect(board.tasks[id: "a"]?.steps.overlaidCount == 1)
    }

    @Test
    func `400 changes of 200 elements become one replacement`() {
        var board = ChoreBoard(tasks: Keyed((0..<200).map { Chore(id: "\($0)") }))
        let recording = ChangeRecorder.record(&board) { board in
            for id in board.tasks.ids {
                board.tasks[id: id]?.title = "x"
                board.tasks[id: id]?.done = true
            }
        }
        #expect(recording.changes.map(\.path) == ["/tasks"])
    }

    @Test(arguments: [(-5, ["b", "a", "title"]), (200, ["a", "title", "b"])])
    func `an operation at a position out of range applies at the nearest end`(position: Int, ids: [String]) {
        var board = ChoreBoard()
        board.tasks.move(id: "b", to: position)
        #expect(board.tasks.ids == ids)
    }

    @Test
    func `an id can be a UUID`() throws {
        let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(id.keyPathToken == "e621e1f8-c36c-495a-93fc-0c247a3e6e5f")
        #expect(id.jsonBytes() == Array("\"\(id.keyPathToken)\"".utf8))
        #expect(UUID.from(keyPathToken: id.keyPathToken) == id)
        #expect(UUID.from(keyPathToken: "x") == nil)
    }

    @Test(arguments: [
        ("e621e1f8-c36c-495a-93fc-0c247a3e6e5f", true), ("E621E1F8-C36C-495A-93FC-0C247A3E6E5F", false), ("x", false),
    ])
    func `a key path contains an id in its canonical spelling only`(token: String, isID: Bool) {
        #expect(Keyed<Ticket>.jsonSchema.accepts(path: [token, "title"]) == isID)
        #expect(Keyed<Ticket>.jsonSchema.accepts(path: [token]) == isID)
    }

    @Test func `a numeric id has one spelling in key paths`() {
        let schema = Keyed<Part>.jsonSchema
        #expect(schema.accepts(path: ["7"]) && schema.accepts(path: ["-7"]))
        for token in ["07", "+7", "x", "", "7.0", "*"] { #expect(!schema.accepts(path: [token]), "\(token)") }
        #expect(schema.accepts(path: ["*"], wildcards: true))
    }
}
