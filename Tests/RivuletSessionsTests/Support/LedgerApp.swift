// Owns an app with nested collections, dictionaries, optionals and cases in its state, and random events of it.

import RivuletEngine
import RivuletJSON
import RivuletObjects
import RivuletObservation
import SeededRandom

@ObservableState
struct Ledger: PersistentState {
    var name = "ledger"
    var accounts: Keyed<Account> = []
    var rates: [String: Int] = [:]
    var history: [Int] = []
    var owner: Owner?
    var mode = LedgerMode.closed
}

@ObservableState
struct Account: Identifiable, Equatable, Sendable {
    var id: String
    var title = ""
    var entries: Keyed<Entry> = []
    @Transient var isOpen = false
}

/// An element with an id that is not in its JSON.
@ObservableState
struct Entry: Identifiable, Equatable, Sendable {
    var number: Int
    var amount = 0
    var id: String { "#\(number)" }
}

@ObservableState
struct Owner: Equatable, Sendable {
    var name = ""
    var cards: Keyed<Entry> = []
}

@ObservableState
enum LedgerMode: Equatable, Sendable {
    case closed
    case editing(Owner)
    case failed(code: Int, reason: String)
}

@ObservableState
struct LedgerScreen: Equatable, Sendable {
    var cursor: String?
    var guest: Owner?
}

@AppEvent
enum LedgerEvent {
    case rename(String)
    case open(String, at: Int)
    case close(String)
    case retitle(String, title: String)
    case show(String)
    case move(String, to: Int)
    case book(String, number: Int, amount: Int)
    case unbook(String, number: Int)
    case shift(String, number: Int, to: Int)
    case rate(String, Int?)
    case note(Int)
    case own(String?)
    case card(Int)
    case edit(String?)
    case editCard(Int)
    case fail(Int)
    case replaceAll(Int)
    case point(String?)
    case invite(String?)

    var persist: Bool {
        switch self {
        case .show, .point, .invite: false
        default: true
        }
    }
    var isUIEvent: Bool { true }
}

final class LedgerView: ObservableObject {
    @Published var accounts: Keyed<Account>
    @Published var titles: [String: String]
    @Published var rich: Keyed<Account>

    init(accounts: Keyed<Account>, titles: [String: String], rich: Keyed<Account>) {
        self.accounts = accounts
        self.titles = titles
        self.rich = rich
    }
}

extension AppState<Ledger, LedgerScreen> {
    /// A Swift dictionary treats two spellings of an id as one key.
    var titles: [String: String] { Dictionary(p.accounts.map { ($0.id, $0.title) }) { _, last in last } }
    var rich: Keyed<Account> {
        var rich: Keyed<Account> = []
        for account in p.accounts where account.entries.count > 1 { rich.append(account) }
        return rich
    }
}

@StateForwarder(
    for: LedgerView.self,
    from: LedgerApp.State.self,
    mapping: [
        (\LedgerApp.State.p.accounts, \LedgerView.accounts), (\LedgerApp.State.titles, \LedgerView.titles),
        (\LedgerApp.State.rich, \LedgerView.rich),
    ]
)
struct LedgerForwarder {}

struct LedgerApp: AppDefinition {
    typealias State = AppState<Ledger, LedgerScreen>

    let name = "tally"
    let defaultState = State(t: LedgerScreen(), p: Ledger())

    var views: [StateView<State>] { [StateView(LedgerForwarder.self)] }

    func reduce(into state: inout State, event: LedgerEvent) {
        switch event {
        case .rename(let name): state.p.name = name
        case .rate(let key, let rate): state.p.rates[key] = rate
        case .note(let note): state.p.history = Array((state.p.history + [note]).suffix(4))
        case .own(let name): state.p.owner = name.map { Owner(name: $0) }
        case .card(let number): state.p.owner?.cards.append(Entry(number: number))
        case .edit(let name): state.p.mode = name.map { .editing(Owner(name: $0)) } ?? .closed
        case .editCard(let number):
            if case .editing(var owner) = state.p.mode {
                if owner.cards.remove(id: "#\(number)") == nil { owner.cards.insert(Entry(number: number), at: 0) }
                state.p.mode = .editing(owner)
            }
        case .fail(let code): state.p.mode = .failed(code: code, reason: "r")
        case .replaceAll(let count):
            state.p.accounts = []
            for index in 0..<count { state.p.accounts.append(Account(id: "\(index)", title: "new")) }
        case .point(let cursor): state.t.cursor = cursor
        case .invite(let name): state.t.guest = name.map { Owner(name: $0) }
        default: reduceAccounts(of: &state.p.accounts, event)
        }
    }

    private func reduceAccounts(of accounts: inout Keyed<Account>, _ event: LedgerEvent) {
        func position(_ position: Int, _ count: Int) -> Int { min(position, max(count, 0)) }
        switch event {
        case .open(let id, let place): accounts.insert(Account(id: id), at: position(place, accounts.count))
        case .close(let id): accounts.remove(id: id)
        case .retitle(let id, let title): accounts[id: id]?.title = title
        case .show(let id): accounts[id: id]?.isOpen.toggle()
        case .move(let id, let place): accounts.move(id: id, to: position(place, accounts.count - 1))
        case .book(let id, let number, let amount):
            guard accounts[id: id]?.entries[id: "#\(number)"] == nil else {
                accounts[id: id]?.entries[id: "#\(number)"]?.amount = amount
                return
            }
            accounts[id: id]?.entries.insert(Entry(number: number, amount: amount), at: 0)
        case .unbook(let id, let number): accounts[id: id]?.entries.remove(id: "#\(number)")
        case .shift(let id, let number, let place):
            let count = accounts[id: id]?.entries.count ?? 0
            accounts[id: id]?.entries.move(id: "#\(number)", to: position(place, count - 1))
        default: break
        }
    }
}

/// Random events of a ledger.
struct LedgerProgram {
    private var generator: SeededGenerator
    private static let ids = ["a", "b", "c", "*", "x/y", "~", "é", "e\u{301}", ""]

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// The body of a dispatch: one event, or several at once.
    mutating func body() -> String {
        guard number(0...3) == 0 else { return event() }
        return "[" + (0..<number(2...8)).map { _ in event() }.joined(separator: ",") + "]"
    }

    /// An event that has no log entry.
    mutating func quietEvent() -> String {
        switch number(0...2) {
        case 0: return #"{"show":"\#(id())"}"#
        case 1: return #"{"point":\#(number(0...1) == 0 ? "null" : #""\#(number(0...3))""#)}"#
        default: return #"{"invite":\#(number(0...1) == 0 ? "null" : #""\#(number(0...3))""#)}"#
        }
    }

    private mutating func id() -> String { Self.ids.randomElement(using: &generator) ?? "a" }

    private mutating func event() -> String {
        let (id, place) = (id(), number(0...4))
        switch number(0...22) {
        case 0...3: return #"{"open":{"_0":"\#(id)","at":\#(place)}}"#
        case 4...5: return #"{"close":"\#(id)"}"#
        case 6...7: return #"{"retitle":{"_0":"\#(id)","title":"t\#(place)"}}"#
        case 8: return #"{"move":{"_0":"\#(id)","to":\#(place)}}"#
        case 9...11: return #"{"book":{"_0":"\#(id)","number":\#(number(0...3)),"amount":\#(place)}}"#
        case 12: return #"{"unbook":{"_0":"\#(id)","number":\#(number(0...3))}}"#
        case 13: return #"{"shift":{"_0":"\#(id)","number":\#(number(0...3)),"to":\#(place)}}"#
        case 14: return #"{"rate":{"_0":"\#(id)","_1":\#(place == 0 ? "null" : "\(place)")}}"#
        case 15: return #"{"note":\#(place)}"#
        case 16: return place == 0 ? #"{"own":null}"# : #"{"own":"o\#(place)"}"#
        case 17: return #"{"card":\#(place)}"#
        case 18: return place == 0 ? #"{"edit":null}"# : #"{"edit":"e\#(place)"}"#
        case 19: return #"{"editCard":\#(place)}"#
        case 20: return place == 0 ? #"{"replaceAll":\#(number(0...5))}"# : #"{"rename":"n\#(place)"}"#
        case 21: return place == 0 ? #"{"fail":\#(place)}"# : #"{"editCard":\#(place)}"#
        default: return quietEvent()
        }
    }
}
