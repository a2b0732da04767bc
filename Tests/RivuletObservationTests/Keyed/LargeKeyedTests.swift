// This file owns the tests of collections that are larger than one array, and of ids with two spellings.

import ChangeOracle
import RivuletJSON
import RivuletObservation
import SeededRandom
import Testing

@Suite
struct LargeKeyedTests {
    @Test(arguments: UInt64(0)..<6)
    func `a run on 3,000 elements is replayed from its changes, and a copy does not change`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var state = Tasks(tasks: Keyed((0..<3_000).map { Task(id: "\($0)") }))
        var replayed = try JSONValue(parsing: state.jsonBytes())
        var next = 3_000
        for run in 0..<8 {
            let before = state
            let text = before.jsonBytes()
            let recording = ChangeRecorder.record(&state) { state in
                for _ in 0..<Int.random(in: 1...20, using: &generator) {
                    edit(&state.tasks, &next, &generator)
                }
            }
            replayed = try recording.changes.reduce(replayed) { try #require(try $0.applying($1, $1.value)) }
            #expect(replayed.jsonBytes() == state.jsonBytes(), "seed \(seed), run \(run)")
            #expect(before.jsonBytes() == text, "seed \(seed), run \(run)")
            #expect(recording.changes.allSatisfy { $0.path != "/tasks" })
        }
    }

    private func edit(_ tasks: inout Keyed<Task>, _ next: inout Int, _ generator: inout SeededGenerator) {
        let position = Int.random(in: tasks.indices, using: &generator)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: tasks.remove(at: position)
        case 1: tasks.insert(Task(id: "\(next)"), at: position)
        case 2: tasks.move(id: tasks[position].id, to: Int.random(in: tasks.indices, using: &generator))
        case 3: tasks[id: tasks[position].id]?.id = "\(next)"
        case 4: tasks.append(Task(id: "\(next)"))
        case 5: _ = tasks.popLast()
        default: tasks[id: tasks[position].id]?.title += "x"
        }
        next += 1
    }

    @Test
    func `a removal among 10,000 elements is one change, and so is a move over 9,000`() {
        var state = Tasks(tasks: Keyed((0..<10_000).map { Task(id: "\($0)") }))
        let removal = ChangeRecorder.record(&state) { $0.tasks.remove(id: "5000") }
        #expect(removal.changes.map(\.operationText) == ["remove /tasks/5000"])
        let move = ChangeRecorder.record(&state) { $0.tasks.move(id: "1", to: 9_000) }
        #expect(move.changes.map(\.operationText) == ["move /tasks/1 9000"])
        let edit = ChangeRecorder.record(&state) { state in
            state.tasks.remove(id: "7")
            state.tasks[id: "8000"]?.title = "x"
        }
        #expect(edit.changes.map(\.operationText) == ["remove /tasks/7", #"replace /tasks/8000/title "x""#])
    }

    @Test
    func `an edit in a large collection that ends with a throw keeps its writes`() {
        struct Interruption: Error {}
        func write(_ task: inout Task?) throws {
            task?.title = "x"
            throw Interruption()
        }
        var tasks = Keyed((0..<2_000).map { Task(id: "\($0)") })
        #expect(throws: Interruption.self) { try write(&tasks[id: "1000"]) }
        #expect(tasks[1_000] == Task(id: "1000", title: "x"))
        tasks[id: "1000"] = nil
        #expect(tasks.count == 1_999)
        #expect(tasks[1_000].id == "1001")
    }

    @Test
    func `an id with a NUL is found in an added element, and refused in a client's JSON`() throws {
        var state = Tasks()
        let added = ChangeRecorder.record(&state) { $0.tasks.append(Task(id: "a\0b")) }
        let plain = ChangeRecorder.record(&state) { $0.tasks.append(Task(id: "a")) }
        let renamed = ChangeRecorder.record(&state) { $0.tasks[id: "a"]?.id = "\0" }
        #expect([added, plain, renamed].map(\.hasUnaddressableID) == [true, false, true])
        let text = [UInt8](#"[{"id":"a"},{"id":"\u0000"}]"#.utf8)
        // Stored ids remain readable.
        #expect(try Keyed<Task>(jsonBytes: text).count == 2)
        var reader = JSONReader(text)
        reader.unknownKeys = .reject
        let error = #expect(throws: JSONError.self) { try Keyed<Task>(json: &reader) }
        #expect(error?.kind == .mismatch)
        #expect(error?.pointer == "/1")
    }

    @Test
    func `ids with other bytes are other ids, though Swift's strings are equal`() throws {
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        var tasks: Keyed = [Task(id: composed, title: "1")]
        let isInserted = tasks.append(Task(id: decomposed, title: "2")).inserted
        #expect(isInserted)
        #expect(tasks[id: composed]?.title == "1")
        #expect(tasks[id: decomposed]?.title == "2")
        #expect(tasks.index(id: decomposed) == 1)
        let text = tasks.jsonBytes()
        #expect(try Keyed<Task>(jsonBytes: text).jsonBytes() == text)
        let removed = tasks.remove(id: composed)
        #expect(removed?.title == "1")
        #expect(!tasks.contains(id: composed))
        #expect(Keyed([Task(id: composed), Task(id: decomposed)]).count == 2)
    }
}
