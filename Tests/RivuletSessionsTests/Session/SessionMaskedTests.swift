// Checks the masked parts of a state with two kinds of arrays: a keyed collection, and one that only looks like it.

import RivuletAccess
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@ObservableState
struct Rack: PersistentState {
    /// A plain array, in which an `id` is a field like any other.
    var rows: [RackRow] = []
    var cards: Keyed<RackCard> = []
}

struct RackRow: Codable, Equatable, Sendable {
    var id: String
    var text: String
}

@ObservableState
struct RackCard: Identifiable, Equatable, Sendable {
    var id: Int
    var text = ""
}

@AppEvent
enum RackEvent {
    case fill(Int)
}

struct RackApp: AppDefinition {
    let name = "tally"
    let defaultState = AppState(t: EmptyTransient(), p: Rack())

    /// Rows and cards with ids that count down, and texts that count up.
    func reduce(into state: inout AppState<Rack, EmptyTransient>, event: RackEvent) throws {
        guard case .fill(let count) = event else { return }
        state.p.rows = (0..<count).map { RackRow(id: "\(count - 1 - $0)", text: "row \($0)") }
        for number in 0..<count { state.p.cards.append(RackCard(id: count - 1 - number, text: "card \(number)")) }
    }
}

@Suite struct SessionMaskedTests {
    private static let masks: [(paths: [String], state: String)] = [
        (["/p/rows/0"], #"{"p":{"rows":[{"id":"2","text":"row 0"}]}}"#),
        (["/p/cards/0"], #"{"p":{"cards":[{"id":0,"text":"card 2"}]}}"#),
        (["/p/rows/*/text"], #"{"p":{"rows":[{"text":"row 0"},{"text":"row 1"},{"text":"row 2"}]}}"#),
        (["/p/rows/0/id", "/p/cards/2/text"], #"{"p":{"rows":[{"id":"2"}],"cards":[{"id":2,"text":"card 0"}]}}"#),
    ]

    private func mask(_ paths: [String]) throws -> PathMask {
        PathMask(try paths.map { try JSONPointer(parsing: $0) })
    }

    private func harness(of count: Int) throws -> SessionHarness {
        let harness = try SessionHarness()
        harness.deploy(RackApp())
        try harness.dispatch(#"{"fill":\#(count)}"#)
        return harness
    }

    @Test(arguments: masks)
    func `a state and its past name the elements of an array as key paths do`(
        _ paths: [String],
        _ state: String
    ) throws {
        let harness = try harness(of: 3)
        for version in [nil, 1] as [UInt64?] {
            var answer: Result<StateAnswer, SessionError>?
            try harness.session().read(JSONPointer(tokens: []), at: version, masked: mask(paths)) { answer = $0 }
            #expect(String(decoding: try harness.wait { answer }.get().value, as: UTF8.self) == state)
        }
    }

    @Test func `a log has the granted elements, and the ids of keyed collections only`() throws {
        let harness = try harness(of: 2)
        var answer: Result<LogPage, SessionError>?
        let mask = try mask(["/p/rows/*/text", "/p/cards/*/text"])
        try harness.session().readLog(after: nil, limit: 10, masked: mask) { answer = $0 }
        let changes = try harness.wait { answer }.get().entries.map { String(decoding: $0.changes, as: UTF8.self) }
        try #require(changes.count == 1)
        #expect(changes[0].contains(#"[{"text":"row 0"},{"text":"row 1"}]"#), "\(changes)")
        #expect(changes[0].contains(#"{"id":1,"text":"card 0"}"#), "\(changes)")
    }

    @Test func `a stream of too many elements has the ids of keyed collections only`() throws {
        let harness = try harness(of: PathSet.wildcardLocationsMax + 1)
        let first = try #require(try harness.subscribe("/p/rows/*/text", "/p/cards/*/text").first.first).text
        #expect(first.contains(#""/p/rows":[{"text":"row 0"},{"text":"row 1"},"#))
        #expect(first.contains(#""/p/cards":[{"id":4096,"text":"card 0"},"#))
        try harness.dispatch(#"{"fill":2}"#)
        let event = try #require(harness.sink.delivered.last).event.text
        #expect(event.contains(#"{"text":"row 1"}"#) && !event.contains(#""id":"1""#), "\(event.prefix(2_000))")
    }
}
