// This file owns the samples of Documentation/Collections.md, compiled and run.

import ChangeOracle
import RivuletJSON
import RivuletObservation
import RivuletSchema
import Testing

// DocumentationTests checks that this file has every sample of that page, line by line.

@ObservableState
struct Errand: Equatable, Sendable, Identifiable {
    var id = ""
    var title = ""
    var isDone = false
}

@ObservableState
struct Household: Equatable, Sendable {
    var errands: Keyed<Errand> = []
}

struct RoomID: RawRepresentable, KeyedID, JSONCodable {
    var rawValue: UInt32
}

@ObservableState
struct Room: Equatable, Sendable, Identifiable {
    var id = RoomID(rawValue: 0)
    var errands: Keyed<Errand> = []
}

@ObservableState
enum Plan: Equatable, Sendable {
    case none
    case rooms(Keyed<Room>)
}

@ObservableState
struct House: Equatable, Sendable {
    var plan = Plan.none
    var guests: Keyed<Errand>?
    @Wrapped(Boxed.self) var archive: Keyed<Errand> = []
    @Transient var dragged: Keyed<Errand> = []
}

@Suite
struct DocumentedCollectionsTests {
    @Test
    func `the documented calls do what the page says`() {
        var errands: Keyed = [Errand(id: "a", title: "Cook"), Errand(id: "b", title: "Sweep")]
        errands[id: "a"]?.isDone = true  // in place
        errands[id: "b"] = nil  // removes
        errands[id: "c"] = Errand(id: "c")  // appends, or replaces the element of this id
        errands.append(Errand(id: "c", title: "Dust"))  // no change, as the id exists: (inserted: false, index: 1)
        errands.updateOrAppend(Errand(id: "c", title: "Dust"))  // replaces the element
        errands.insert(Errand(id: "d"), at: 0)
        errands.move(id: "d", to: 2)  // its new position
        errands.sort { $0.title < $1.title }
        errands.removeAll { $0.isDone }
        let titles = errands.map(\.title)  // the collection is a RandomAccessCollection
        let position = errands.index(id: "c")  // the position, from 0
        #expect(titles == ["", "Dust"])
        #expect(position == 1)
        #expect(errands.append(Errand(id: "c")) == (false, 1))
    }

    @Test
    func `the documented run records the documented changes, and their replay gives the same order`() throws {
        var state = Household(errands: [Errand(id: "a"), Errand(id: "b"), Errand(id: "c"), Errand(id: "d")])
        let before = state
        let recording = ChangeRecorder.record(&state) { state in
            state.errands.insert(Errand(id: "e"), at: 0)
            state.errands[id: "c"]?.title = "Sweep"
            state.errands.move(id: "d", to: 1)
            state.errands.remove(id: "b")
        }
        // recording.changes, in this order:
        // {"op":"remove","path":"/errands/b"}
        // {"op":"replace","path":"/errands/c/title","value":"Sweep"}
        // {"op":"add","path":"/errands/e","index":0,"value":{"id":"e","title":"","isDone":false}}
        // {"op":"move","path":"/errands/d","index":1}
        #expect(
            recording.changes.map(\.operationText) == [
                "remove /errands/b", #"replace /errands/c/title "Sweep""#,
                #"add /errands/e 0 {"id":"e","title":"","isDone":false}"#, "move /errands/d 1",
            ]
        )
        var client: JSONValue? = try JSONValue(parsing: before.jsonBytes())
        for change in recording.changes { client = try client?.applying(change, change.value) }
        #expect(client?.jsonBytes() == state.jsonBytes())
        #expect(state.errands.ids == ["e", "d", "a", "c"])
    }

    @Test
    func `nested collections have the documented key paths`() {
        var house = House(plan: .rooms([Room(id: RoomID(rawValue: 7), errands: [Errand(id: "a/b")])]))
        let recording = ChangeRecorder.record(&house) { house in
            house.plan.rooms?[id: RoomID(rawValue: 7)]?.errands[id: "a/b"]?.isDone = true
            house.guests = [Errand(id: "g")]
            house.archive.append(Errand(id: "z"))
        }
        // /plan/rooms/7/errands/a~1b/isDone
        // /guests
        // /archive/z
        #expect(recording.changes.map(\.path) == ["/plan/rooms/7/errands/a~1b/isDone", "/guests", "/archive/z"])
    }

    @Test
    func `over 500 changes become one replacement, as documented, and the schema marks a keyed collection`() {
        var state = Household(errands: Keyed((0..<1_000).map { Errand(id: "\($0)") }))
        let half = ChangeRecorder.record(&state) { state in
            for id in state.errands.ids.prefix(500) { state.errands[id: id]?.isDone = true }
        }
        #expect(half.changes.count == 500)
        let more = ChangeRecorder.record(&state) { state in
            for id in state.errands.ids.prefix(501) { state.errands[id: id]?.isDone.toggle() }
        }
        #expect(more.changes.map(\.path) == ["/errands"])
        #expect(Household.jsonSchema.document["properties"]?["errands"]?["x-rivulet-keyed"] == true)
    }
}
