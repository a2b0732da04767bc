// Checks the events that written values become, and the detection of bindings that do not fit a state.

import CounterFixture
import Foundation
import RivuletEngine
import RivuletJSON
import RivuletObservation
import Testing

@Suite struct StateBindingsTests {
    private let state = TallyApp().defaultState

    private func event(_ path: String, _ value: String, in bindings: [StateBinding<TallyEvent>]) throws -> TallyEvent? {
        var reader = JSONReader(Array(value.utf8))
        return try StateBindings(bindings).event(at: try JSONPointer(parsing: path), from: &reader)
    }

    private func fault(_ bindings: StateBinding<TallyEvent>...) -> String? {
        StateBindings(bindings).fault(in: state)
    }

    @Test func `a value becomes the event of its path's binding`() throws {
        let bindings = TallyApp().bindings
        #expect(try event("/p/count", "7", in: bindings) == .set(7))
        #expect(try event("/p/items/a~1b/title", #""x""#, in: bindings) == .retitle(id: "a/b", title: "x"))
        #expect(try event("/p/items/*/title", #""x""#, in: bindings) == .retitle(id: "*", title: "x"))
        #expect(try event("/p/limits", #"{"low":1,"high":2}"#, in: bindings) == .limits(Bounds(low: 1, high: 2)))
    }

    @Test(arguments: ["", "/p", "/p/counts", "/p/count/x", "/p/items/title", "/p/items/a", "/p/items/a/id"])
    func `a path without a binding has no event`(_ path: String) throws {
        #expect(try event(path, "7", in: TallyApp().bindings) == nil)
        #expect(try !StateBindings(TallyApp().bindings).contains(JSONPointer(parsing: path)))
    }

    /// A custom id.
    private enum Suit: String, CaseIterable, KeyedID {
        case clubs, hearts
    }

    @Test func `an event gets an element's id in its own type`() throws {
        let bindings: [StateBinding<TallyEvent>] = [
            StateBinding("/p/groups/*/id", TallyEvent.moveGroup),
            StateBinding("/p/a/*/x") { (id: UUID, title: String) in .retitle(id: id.uuidString, title: title) },
            StateBinding("/p/b/*/x") { (suit: Suit, title: String) in .retitle(id: "\(suit)", title: title) },
            StateBinding("/p/c/*/x") { (id: UInt8, value: Int) in .add(Int(id) + value) },
        ]
        let id = try #require(UUID(uuidString: "0B6F5F1E-7C1B-4A53-9A55-0D6C1D0F2AFE"))
        #expect(try event("/p/groups/7/id", "2", in: bindings) == .moveGroup(id: 7, to: 2))
        #expect(
            try event("/p/a/\(id.uuidString.lowercased())/x", #""t""#, in: bindings)
                == .retitle(id: id.uuidString, title: "t")
        )
        #expect(try event("/p/b/hearts/x", #""t""#, in: bindings) == .retitle(id: "hearts", title: "t"))
        #expect(try event("/p/c/255/x", "1", in: bindings) == .add(256))
        for path in [
            "/p/groups/x/id", "/p/groups/+7/id", "/p/groups/07/id", "/p/a/\(id.uuidString)/x", "/p/b/spades/x",
            "/p/c/256/x",
        ] {
            #expect(try event(path, "1", in: bindings) == nil, "\(path)")
        }
        var writer = JSONWriter()
        StateBindings(bindings).encodeDescription(of: TallyApp().defaultState, into: &writer)
        let list = try #require(try JSONValue(parsing: writer.bytes).elements)
        #expect(list.map { $0["event"] } == ["moveGroup", "retitle", "retitle", "add"])
    }

    @Test func `a key that is no id belongs to the binding that names the key`() throws {
        let bindings: [StateBinding<TallyEvent>] = [
            StateBinding("/p/c/*") { (id: Int, value: Int) in .add(id + value) },
            StateBinding("/p/c/sum", TallyEvent.set),
        ]
        #expect(try event("/p/c/1", "2", in: bindings) == .add(3))
        #expect(try event("/p/c/sum", "2", in: bindings) == .set(2))
        #expect(try event("/p/c/other", "2", in: bindings) == nil)
    }

    @Test func `a value of another type than the event's is an error`() throws {
        #expect(throws: JSONError.self) { try event("/p/count", #""7""#, in: TallyApp().bindings) }
    }

    @Test func `bindings that fit the state have no fault, as functions and as closures`() {
        #expect(StateBindings(TallyApp().bindings).fault(in: state) == nil)
        #expect(fault(StateBinding("/p/ratio") { .ratio($0) }) == nil)
        #expect(fault(StateBinding("/p/items/*/title") { .retitle(id: $0, title: $1) }) == nil)
        #expect(fault(StateBinding("/p/groups/7/items") { (count: [Int]) in .mark(count.count) }) == nil)
    }

    @Test func `the fault of a binding names its path and the reason`() {
        #expect(fault(StateBinding("p/count", TallyEvent.set)) == #"the binding "p/count" is no JSON Pointer"#)
        #expect(
            fault(StateBinding("/p/counts", TallyEvent.set))
                == #"the binding "/p/counts" is for a key path that the state does not have"#
        )
        #expect(
            fault(StateBinding("/p/note", TallyEvent.note))
                == #"the binding "/p/note" is for a key path that the state does not have"#
        )
        #expect(
            fault(StateBinding("/p/title", TallyEvent.set))
                == #"the binding "/p/title" takes values of another type than the state has there"#
        )
        #expect(
            fault(StateBinding("/p/count", TallyEvent.set), StateBinding("/p/count", TallyEvent.add))
                == #"two bindings are for "/p/count"; remove one"#
        )
        #expect(
            fault(StateBinding("/p/items/a/title", TallyEvent.retitle))
                == #"the binding "/p/items/a/title" has 0 "*"; its event takes one id"#
        )
        #expect(
            fault(StateBinding("/p/items/*/title", TallyEvent.rename))
                == #"the binding "/p/items/*/title" has 1 "*"; its event takes no id"#
        )
    }

    @Test func `a description has paths, events and schemas`() throws {
        var writer = JSONWriter()
        StateBindings(TallyApp().bindings).encodeDescription(of: TallyApp().defaultState, into: &writer)
        let list = try #require(try JSONValue(parsing: writer.bytes).elements)
        #expect(list.map { $0["path"] } == ["/p/count", "/p/title", "/p/limits", "/p/items/*/title"])
        #expect(list.map { $0["event"] } == ["set", "rename", "limits", "retitle"])
        #expect(list.map { $0["schema"]?["type"] } == ["integer", "string", "object", "string"])
    }
}
