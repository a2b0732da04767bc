// Part of Rivulet. See README.md for the architecture.
// This file owns the samples of Documentation/Collections.md, compiled and run.

import RivuletJSON
import RivuletObservation
import Testing

// WallsTests checks that every sample of that page stands here, line by line.

@ObservableState
struct Chore: Equatable, Sendable, Identifiable {
    var id = ""
    var title = ""
    var isDone = false
}

@ObservableState
struct Household: Equatable, Sendable {
    var chores: Keyed<Chore> = []
}

struct RoomID: RawRepresentable, KeyedID, JSONCodable {
    var rawValue: UInt32
}

@ObservableState
struct Room: Equatable, Sendable, Identifiable {
    var id = RoomID(rawValue: 0)
    var chores: Keyed<Chore> = []
}

@ObservableState
enum Plan: Equatable, Sendable {
    case none
    case rooms(Keyed<Room>)
}

@ObservableState
struct House: Equatable, Sendable {
    var plan = Plan.none
    var guests: Keyed<Chore>?
    @ObservableStateWrapper(Box<Keyed<Chore>>.self)
    @ObservationStateIgnored
    var archive: Keyed<Chore> = []
    @Transient var dragged: Keyed<Chore> = []
}

@Suite
struct DocumentedCollectionsTests {
    @Test
    func `the documented calls do what the page says`() {
        var chores: Keyed = [Chore(id: "a", title: "Cook"), Chore(id: "b", title: "Sweep")]
        chores[id: "a"]?.isDone = true  // in place, O(1)
        chores[id: "b"] = nil  // removes
        chores[id: "c"] = Chore(id: "c")  // appends, or replaces the element of this id
        chores.append(Chore(id: "c", title: "Dust"))  // leaves the known one as it is: (inserted: false, index: 1)
        chores.updateOrAppend(Chore(id: "c", title: "Dust"))  // replaces it
        chores.insert(Chore(id: "d"), at: 0)
        chores.move(id: "d", to: 2)  // it is at position 2 then
        chores.sort { $0.title < $1.title }
        chores.removeAll { $0.isDone }
        let titles = chores.map(\.title)  // a RandomAccessCollection
        let position = chores.index(id: "c")  // of positions, which start at 0
        #expect(titles == ["", "Dust"])
        #expect(position == 1)
        #expect(chores.append(Chore(id: "c")) == (false, 1))
    }

    @Test
    func `the documented run records the documented changes, which lead a client to the same order`() throws {
        var state = Household(chores: [Chore(id: "a"), Chore(id: "b"), Chore(id: "c"), Chore(id: "d")])
        let before = state
        let recording = ChangeRecorder.record(&state) { state in
            state.chores.insert(Chore(id: "e"), at: 0)
            state.chores[id: "c"]?.title = "Sweep"
            state.chores.move(id: "d", to: 1)
            state.chores.remove(id: "b")
        }
        // recording.changes, in this order:
        // {"op":"remove","path":"/chores/b"}
        // {"op":"replace","path":"/chores/c/title","value":"Sweep"}
        // {"op":"add","path":"/chores/e","index":0,"value":{"id":"e","title":"","isDone":false}}
        // {"op":"move","path":"/chores/d","index":1}
        #expect(
            recording.changes.map(\.operationText) == [
                "remove /chores/b", #"replace /chores/c/title "Sweep""#,
                #"add /chores/e 0 {"id":"e","title":"","isDone":false}"#, "move /chores/d 1",
            ]
        )
        var client: JSONValue? = try JSONValue(parsing: before.jsonBytes())
        for change in recording.changes { client = try client?.applying(change, change.value) }
        #expect(client?.jsonBytes() == state.jsonBytes())
        #expect(state.chores.ids == ["e", "d", "a", "c"])
    }

    @Test
    func `the documented nesting has the documented key paths`() {
        var house = House(plan: .rooms([Room(id: RoomID(rawValue: 7), chores: [Chore(id: "a/b")])]))
        let recording = ChangeRecorder.record(&house) { house in
            house.plan.rooms?[id: RoomID(rawValue: 7)]?.chores[id: "a/b"]?.isDone = true
            house.guests = [Chore(id: "g")]
            house.archive.append(Chore(id: "z"))
        }
        // /plan/rooms/7/chores/a~1b/isDone
        // /guests
        // /archive/z
        #expect(recording.changes.map(\.path) == ["/plan/rooms/7/chores/a~1b/isDone", "/guests", "/archive/z"])
    }

    @Test
    func `the documented costs of many changes are one replacement, and a schema says that elements have ids`() {
        var state = Household(chores: Keyed((0..<1_000).map { Chore(id: "\($0)") }))
        let half = ChangeRecorder.record(&state) { state in
            for id in state.chores.ids.prefix(500) { state.chores[id: id]?.isDone = true }
        }
        #expect(half.changes.count == 500)
        let more = ChangeRecorder.record(&state) { state in
            for id in state.chores.ids.prefix(501) { state.chores[id: id]?.isDone.toggle() }
        }
        #expect(more.changes.map(\.path) == ["/chores"])
        #expect(Household.jsonSchema.document["properties"]?["chores"]?["x-rivulet-keyed"] == true)
    }
}
