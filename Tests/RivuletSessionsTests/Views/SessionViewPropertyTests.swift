// Checks views of properties that are no fields of the state, although its schema would treat their names as keys, ids
// or cases.

import RivuletEngine
import RivuletJSON
import RivuletObjects
import RivuletObservation
import RivuletSessions
import Testing

@ObservableState
struct Library: PersistentState {
    var books: Keyed<Tome> = []
    var prices: [String: Int] = [:]
    var lending = Lending.none
}

@ObservableState
struct Tome: Identifiable, Equatable, Sendable {
    var id: String
    var title = ""
}

@ObservableState
enum Lending: Equatable, Sendable {
    case none
    case lent(Loan)
    case sold(Loan)

    /// Replaces the case's generated variable.
    var sold: Int { if case .sold(let loan) = self { loan.days * 10 } else { -1 } }
}

@ObservableState
struct Loan: Equatable, Sendable {
    var days = 0
}

@AppEvent
enum LibraryEvent {
    case add(String)
    case retitle(String, String)
    case remove(String)
    case price(String, Int?)
    case lend(days: Int)
    case sell(days: Int)
    case takeBack

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

final class LibraryView: ObservableObject {
    @Published var count: Int
    @Published var isEmpty: Bool
    @Published var first: Tome?
    @Published var last: Tome?
    @Published var priced: Int
    @Published var lent: Loan?
    @Published var sold: Int

    init(count: Int, isEmpty: Bool, first: Tome?, last: Tome?, priced: Int, lent: Loan?, sold: Int) {
        self.count = count
        self.isEmpty = isEmpty
        self.first = first
        self.last = last
        self.priced = priced
        self.lent = lent
        self.sold = sold
    }
}

@StateForwarder(
    for: LibraryView.self,
    from: LibraryApp.State.self,
    mapping: [
        (\LibraryApp.State.p.books.count, \LibraryView.count),
        (\LibraryApp.State.p.books.isEmpty, \LibraryView.isEmpty),
        (\LibraryApp.State.p.books.first, \LibraryView.first),
        (\LibraryApp.State.p.books.last, \LibraryView.last),
        (\LibraryApp.State.p.prices.count, \LibraryView.priced),
        (\LibraryApp.State.p.lending.lent, \LibraryView.lent),
        (\LibraryApp.State.p.lending.sold, \LibraryView.sold),
    ]
)
struct LibraryForwarder {}

struct LibraryApp: AppDefinition {
    typealias State = AppState<Library, EmptyTransient>

    let name = "tally"
    let defaultState = State(t: EmptyTransient(), p: Library())

    var views: [StateView<State>] { [StateView(LibraryForwarder.self)] }

    func reduce(into state: inout State, event: LibraryEvent) {
        switch event {
        case .add(let id): state.p.books.append(Tome(id: id))
        case .retitle(let id, let title): state.p.books[id: id]?.title = title
        case .remove(let id): state.p.books.remove(id: id)
        case .price(let id, let price): state.p.prices[id] = price
        case .lend(let days): state.p.lending = .lent(Loan(days: days))
        case .sell(let days): state.p.lending = .sold(Loan(days: days))
        case .takeBack: state.p.lending = .none
        }
    }
}

@Suite struct SessionViewPropertyTests {
    private let harness: SessionHarness

    init() throws {
        harness = try SessionHarness()
        harness.deploy(LibraryApp())
    }

    private func watch(_ name: String) throws {
        try harness.subscribe(StreamTopic(view: "LibraryView", paths: [JSONPointer(tokens: [name])]))
    }

    /// The changes that streams got since the last call.
    private func told() -> [String] {
        defer { harness.sink.delivered = [] }
        return harness.sink.delivered.compactMap {
            $0.event.text.split(separator: "\"changes\":").last.map(String.init)
        }
    }

    private func field(_ name: String) throws -> String {
        let view = try JSONValue(parsing: try harness.session().readView("LibraryView").get().value)
        return view[JSONPointer(tokens: [name])].map { "\($0)" } ?? "absent"
    }

    @Test func `the count of a collection with text ids is sent, and can be read`() throws {
        try watch("count")
        try harness.dispatch(#"{"add":"a"}"#)
        try harness.dispatch(#"{"retitle":{"_0":"a","_1":"A"}}"#)
        try harness.dispatch(#"{"add":"b"}"#)
        let changes = told()
        #expect(changes.count == 2)
        #expect(changes.last?.contains(#"{"op":"replace","path":"/count","value":2}"#) == true)
        #expect(try field("count") == "2")
    }

    @Test func `the emptiness of a collection with text ids is sent, and can be read`() throws {
        try watch("isEmpty")
        try harness.dispatch(#"{"add":"a"}"#)
        #expect(told().first?.contains(#""path":"/isEmpty","value":false"#) == true)
        try harness.dispatch(#"{"add":"b"}"#)
        #expect(told() == [])
        #expect(try field("isEmpty") == "false")
    }

    @Test(arguments: ["first", "last"])
    func `an element at an end of a collection with text ids is sent, and can be read`(name: String) throws {
        try watch(name)
        try harness.dispatch(#"{"add":"a"}"#)
        #expect(told().first?.contains(#""path":"/\#(name)","value":{"id":"a","title":""}"#) == true)
        try harness.dispatch(#"{"retitle":{"_0":"a","_1":"A"}}"#)
        #expect(told().first?.contains(#""value":{"id":"a","title":"A"}"#) == true)
        #expect(try field(name) == #"{"id":"a","title":"A"}"#)
    }

    @Test func `an element with the id of a property is not that property`() throws {
        try watch("count")
        try harness.dispatch(#"{"add":"count"}"#)
        #expect(told().first?.contains(#"{"op":"replace","path":"/count","value":1}"#) == true)
        try harness.dispatch(#"{"retitle":{"_0":"count","_1":"A"}}"#)
        #expect(told() == [])
    }

    @Test func `an equal count of a dictionary is no change`() throws {
        try harness.dispatch(#"{"price":{"_0":"a","_1":1}}"#)
        try watch("priced")
        try harness.dispatch(#"{"price":{"_0":"a","_1":2}}"#)
        #expect(told() == [])
        try harness.dispatch(#"{"price":{"_0":"count","_1":7}}"#)
        #expect(told().first?.contains(#"{"op":"replace","path":"/priced","value":2}"#) == true)
    }

    @Test func `the payload of a case is sent, and can be read, when the case changes`() throws {
        try watch("lent")
        try harness.dispatch(#"{"lend":{"days":3}}"#)
        #expect(told().first?.contains(#""path":"/lent","value":{"days":3}"#) == true)
        try harness.dispatch(#""takeBack""#)
        #expect(told().first?.contains(#""path":"/lent","value":null"#) == true)
        #expect(try field("lent") == "null")
    }

    @Test func `a property that replaces a case's generated variable is computed`() throws {
        try watch("sold")
        try harness.dispatch(#"{"sell":{"days":3}}"#)
        #expect(told().first?.contains(#""path":"/sold","value":30"#) == true)
        #expect(try field("sold") == "30")
    }
}
