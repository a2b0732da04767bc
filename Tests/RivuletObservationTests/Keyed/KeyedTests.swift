// This file owns the tests of a keyed collection as a value, beside a plain array.

import RivuletJSON
import RivuletObservation
import SeededRandom
import Testing

/// An element of the tests.
@ObservableState
struct Task: Hashable, Sendable, Identifiable {
    var id = ""
    var title = ""
    var notes: [String] = []
}

@Suite
struct KeyedTests {
    @Test
    func `elements are read by position and by id`() {
        let tasks: Keyed = [Task(id: "a", title: "x"), Task(id: "b")]
        #expect(tasks.count == 2)
        #expect(tasks[0].title == "x")
        #expect(tasks[id: "b"] == Task(id: "b"))
        #expect(tasks[id: "c"] == nil)
        #expect(tasks.index(id: "b") == 1)
        #expect(tasks.contains(id: "a"))
        #expect(tasks.ids == ["a", "b"])
        #expect(tasks.map(\.id) == ["a", "b"])
    }

    @Test
    func `a later element replaces an earlier element with the same id`() {
        let tasks = Keyed([Task(id: "a"), Task(id: "b"), Task(id: "a", title: "new")])
        #expect(Array(tasks) == [Task(id: "a", title: "new"), Task(id: "b")])
    }

    @Test
    func `append and insert do not change an element that has the id already`() {
        var tasks: Keyed = [Task(id: "a", title: "x"), Task(id: "b")]
        let results = [
            tasks.append(Task(id: "a")),
            tasks.insert(Task(id: "b", title: "y"), at: 0),
            tasks.append(Task(id: "c")),
            tasks.insert(Task(id: "d"), at: 1),
        ]
        #expect(results.map(\.inserted) == [false, false, true, true])
        #expect(results.map(\.index) == [0, 1, 2, 1])
        #expect(tasks.ids == ["a", "d", "b", "c"])
        #expect(tasks[id: "a"]?.title == "x")
    }

    @Test
    func `setting by id replaces, appends and removes`() {
        var tasks: Keyed = [Task(id: "a"), Task(id: "b"), Task(id: "c")]
        tasks[id: "b"] = Task(id: "b", title: "x")
        tasks[id: "a"] = nil
        tasks[id: "d"] = Task(id: "d")
        tasks[id: "e"] = nil
        #expect(Array(tasks) == [Task(id: "b", title: "x"), Task(id: "c"), Task(id: "d")])
    }

    @Test
    func `an element with a changed id keeps its position and replaces the element that had the id`() {
        var tasks: Keyed = [Task(id: "a"), Task(id: "b"), Task(id: "c")]
        tasks[id: "c"]?.id = "a"
        #expect(tasks.ids == ["b", "a"])
        tasks[id: "b"]?.id = "z"
        #expect(tasks.ids == ["z", "a"])
        #expect(tasks.index(id: "z") == 0)
        tasks[id: "z"] = Task(id: "a", title: "x")
        #expect(Array(tasks) == [Task(id: "a", title: "x")])
        tasks[id: "q"] = Task(id: "a", title: "y")
        #expect(Array(tasks) == [Task(id: "a", title: "y")])
    }

    @Test
    func `an element inserted at a position out of range goes to the nearest end`() {
        var tasks: Keyed<Task> = [Task(id: "a")]
        let positions = [
            tasks.insert(Task(id: "b"), at: 9).index,
            tasks.insert(Task(id: "c"), at: -1).index,
            tasks.insert(Task(id: "d"), at: .max).index,
            tasks.insert(Task(id: "e"), at: .min).index,
        ]
        #expect(positions == [1, 0, 3, 0])
        #expect(tasks.ids == ["e", "c", "a", "b", "d"])
    }

    @Test
    func `nothing is removed at a position out of range`() {
        var tasks: Keyed<Task> = [Task(id: "a"), Task(id: "b")]
        let removed = [2, -1, 1, 0, 0].map { tasks.remove(at: $0)?.id }
        #expect(removed == [nil, nil, "b", "a", nil])
        #expect(tasks.isEmpty)
    }

    @Test
    func `a moved element is at the given position`() {
        var tasks = Keyed(["a", "b", "c", "d"].map { Task(id: $0) })
        tasks.move(id: "a", to: 2)
        #expect(tasks.ids == ["b", "c", "a", "d"])
        tasks.move(id: "d", to: 0)
        #expect(tasks.ids == ["d", "b", "c", "a"])
        let isMoved = tasks.move(id: "z", to: 0)
        #expect(!isMoved)
    }

    @Test
    func `an edit that ends with a throw keeps its writes`() {
        struct Interruption: Error {}
        func write(_ task: inout Task?) throws {
            task?.title = "x"
            throw Interruption()
        }
        var tasks: Keyed = [Task(id: "a")]
        let copy = tasks
        #expect(throws: Interruption.self) { try write(&tasks[id: "a"]) }
        #expect(tasks[id: "a"]?.title == "x")
        #expect(copy[id: "a"]?.title == "")
    }

    @Test(arguments: UInt64(0)..<16)
    func `a keyed collection behaves like an array, and its copies do not change`(seed: UInt64) {
        var program = KeyedProgram(seed: seed)
        for step in 0..<400 {
            program.step()
            if step % 8 == 0 { program.check("seed \(seed), step \(step)") }
        }
    }

    @Test(arguments: UInt64(0)..<4)
    func `a shared keyed collection behaves like an array when it is edited in bulk`(seed: UInt64) {
        var program = KeyedProgram(seed: seed, ids: 1_500)
        program.fill()
        for step in 0..<24 {
            program.burst()
            program.check("seed \(seed), step \(step)")
        }
    }

    @Test
    func `editing one field of one of 100,000 elements in a run copies no other element`() throws {
        var state = Tasks(tasks: Keyed((0..<100_000).map { Task(id: "\($0)") }))
        let before = state
        _ = ChangeRecorder.record(&state) { $0.tasks[id: "7"]?.title = "x" }
        #expect(state.tasks[id: "7"]?.title == "x")
        #expect(state.tasks.sharesBase(with: before.tasks))
        #expect(state.tasks.overlaidCount == 1)
    }

    @Test
    func `edits stored beside shared elements are merged into them before the next run`() throws {
        var state = Tasks(tasks: Keyed((0..<1_000).map { Task(id: "\($0)") }))
        for number in 0..<500 {
            let recording = ChangeRecorder.record(&state) { state in
                state.tasks[id: "\(number)"]?.title = "x"
                state.tasks.append(Task(id: "new \(number)"))
            }
            #expect(recording.changes.count == 2)
            #expect(state.tasks.overlaidCount == 2)
        }
        #expect(state.tasks.count == 1_500)
    }

    @Test
    func `an element that is not shared is edited in place`() {
        var tasks: Keyed = [Task(id: "a")]
        tasks[id: "a"]?.notes.reserveCapacity(1_000)
        tasks[id: "a"]?.notes.append("note")
        // A copied array would only have capacity for its present elements.
        #expect((tasks[id: "a"]?.notes.capacity ?? 0) >= 1_000)
    }

    @Test
    func `a keyed collection is an array in every coding, and a repeated id is refused at its index`() throws {
        let tasks: Keyed = [Task(id: "b"), Task(id: "a", title: "x")]
        let text = #"[{"id":"b","title":"","notes":[]},{"id":"a","title":"x","notes":[]}]"#
        #expect(String(decoding: tasks.jsonBytes(), as: UTF8.self) == text)
        #expect(try Keyed<Task>(jsonBytes: [UInt8](text.utf8)) == tasks)
        var writer = JSONWriter()
        CodableJSON.encode(tasks, into: &writer)
        var reader = JSONReader(writer.bytes)
        #expect(try CodableJSON.decode(Keyed<Task>.self, from: &reader) == tasks)
        let error = #expect(throws: JSONError.self) {
            try Keyed<Task>(jsonBytes: [UInt8](#"[{"id":"a"},{"id":"b"}, {"id":"a"}]"#.utf8))
        }
        #expect(error?.offset == 24)
        #expect(error?.pointer == "/2")
        #expect(error?.kind == .mismatch)
    }

    @Test
    func `an id is a token of a key path in one spelling only`() {
        enum Role: String, KeyedID { case admin }
        #expect(Int.from(keyPathToken: "-7") == -7)
        #expect(UInt8.from(keyPathToken: "256") == nil)
        #expect(Role.from(keyPathToken: Role.admin.keyPathToken) == .admin)
        #expect(Role.from(keyPathToken: "guest") == nil)
        let numbers: Keyed = [OracleGroup(id: 7)]
        var writer = JSONWriter()
        #expect(numbers.encodeJSON(at: ["7", "level"], into: &writer))
        #expect(!numbers.encodeJSON(at: ["07", "level"], into: &writer))
        #expect(!numbers.encodeJSON(at: ["8"], into: &writer))
        let words: Keyed = [Task(id: "é")]
        #expect(words.encodeJSON(at: ["é", "title"], into: &writer))
        #expect(!words.encodeJSON(at: ["e\u{301}", "title"], into: &writer))
    }
}

/// A state with a collection.
@ObservableState
struct Tasks: Equatable, Sendable {
    var tasks: Keyed<Task> = []
}

/// A random program of edits of a collection and of the same array, with copies of both.
struct KeyedProgram {
    private var generator: SeededGenerator
    private var keyed: Keyed<Task> = []
    private var array: [Task] = []
    private var copies: [(keyed: Keyed<Task>, array: [Task])] = []
    private let ids: Int

    init(seed: UInt64, ids: Int = 90) {
        generator = SeededGenerator(seed: seed)
        self.ids = ids
    }

    func check(_ place: Comment) {
        for (keyed, array) in copies + [(keyed, array)] {
            #expect(Array(keyed) == array, place)
            #expect(keyed.ids == array.map(\.id), place)
            #expect(array.indices.allSatisfy { keyed.index(id: array[$0].id) == $0 }, place)
            #expect(!keyed.contains(id: "none"), place)
        }
    }

    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
    private mutating func id() -> String { "\(pick(ids))" }

    mutating func step() {
        switch pick(16) {
        case 0...3: edit()
        case 4: rename()
        case 5...8: add()
        case 9: insert()
        case 10, 11: remove()
        case 12: move()
        case 13: reorder()
        default: keepOrPut()
        }
    }

    /// Adds one element for each id.
    mutating func fill() {
        array = (0..<ids).map { Task(id: "\($0)") }
        keyed = Keyed(array)
    }

    /// Keeps a copy, then repeats one kind of edit until a shared collection no longer stores its edits separately.
    mutating func burst() {
        if pick(3) > 0 { keepOrPut() }
        let kind = pick(4)
        for _ in 0..<300 {
            switch kind {
            case 0, 1: edit()
            case 2: add()
            default: #expect(keyed.popLast() == array.popLast())
            }
        }
    }

    private mutating func edit() {
        let id = id()
        keyed[id: id]?.title += "x"
        if let position = array.firstIndex(where: { $0.id == id }) { array[position].title += "x" }
    }

    private mutating func rename() {
        let id = id()
        let other = self.id()
        keyed[id: id]?.id = other
        guard let position = array.firstIndex(where: { $0.id == id }) else { return }
        let element = Task(id: other, title: array[position].title)
        array[position] = element
        array = array.enumerated().filter { $0.element.id != other || $0.offset == position }.map(\.element)
    }

    private mutating func add() {
        let task = Task(id: id(), title: "new")
        let isKnown = array.contains { $0.id == task.id }
        let isInserted = keyed.append(task).inserted
        #expect(isInserted != isKnown)
        if !isKnown { array.append(task) }
    }

    private mutating func insert() {
        let task = Task(id: id())
        let position = pick(array.count + 1)
        keyed.insert(task, at: position)
        if !array.contains(where: { $0.id == task.id }) { array.insert(task, at: position) }
    }

    private mutating func remove() {
        let id = id()
        switch pick(5) {
        case 0:
            let removed = keyed.remove(id: id)
            #expect(removed == array.first { $0.id == id })
            array.removeAll { $0.id == id }
        case 1, 2:
            let last = keyed.popLast()
            let expected = array.popLast()
            #expect(last == expected)
        case 3:
            keyed[id: id] = nil
            array.removeAll { $0.id == id }
        default:
            guard !array.isEmpty else { return }
            let position = pick(array.count)
            let removed = keyed.remove(at: position)
            let expected = array.remove(at: position)
            #expect(removed == expected)
        }
    }

    private mutating func move() {
        guard !array.isEmpty else { return }
        let id = array[pick(array.count)].id
        let position = pick(array.count)
        keyed.move(id: id, to: position)
        guard let old = array.firstIndex(where: { $0.id == id }) else { return }
        array.insert(array.remove(at: old), at: position)
    }

    private mutating func reorder() {
        switch pick(4) {
        case 0:
            keyed.sort { $0.title < $1.title }
            array.sort { $0.title < $1.title }
        case 1:
            keyed.removeAll { $0.title.count > 3 }
            array.removeAll { $0.title.count > 3 }
        case 2:
            keyed = keyed.filter { $0.title.count < 4 }
            array = array.filter { $0.title.count < 4 }
        default: keyed._$settle()
        }
    }

    private mutating func keepOrPut() {
        let index = copies.isEmpty ? 0 : pick(copies.count)
        switch pick(6) {
        case 0, 1, 2:
            if copies.count > 3 { copies.remove(at: index) }
            copies.append((keyed, array))
        case 3: if !copies.isEmpty { (keyed, array) = copies[index] }
        case 4: copies.removeAll()
        default:
            guard !copies.isEmpty else { return }
            swap(&keyed, &copies[index].keyed)
            swap(&array, &copies[index].array)
        }
    }
}
