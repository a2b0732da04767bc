// Owns a small app that engine, session and server tests share.

package import RivuletBase
package import RivuletEngine
import RivuletJSON
package import RivuletObservation

/// The stored half of the app's state.
@ObservableState
package struct Tally: PersistentState {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...100) @ObservationStateIgnored
    package var count: Int = 0
    package var title = "Tally"
    @ObservableStateWrapper(OmitCoding<String?>.self) @ObservationStateIgnored
    package var note: String?
    package var marks: [Int] = []
    package var ratio = 0.5
    package var limits = Bounds()
    package var items: Keyed<Item> = []
    package var groups: Keyed<Group> = []
    package var tickets: Keyed<Ticket> = []
    package var mode = Mode.idle

    package init() {}
}

/// A nested state.
@ObservableState
package struct Bounds: Equatable, Sendable {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...1_000) @ObservationStateIgnored
    package var low: Int = 0
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...1_000) @ObservationStateIgnored
    package var high: Int = 80

    package init(low: Int = 0, high: Int = 80) {
        self.low = low
        self.high = high
    }
}

/// An element of a keyed collection.
@ObservableState
package struct Item: Equatable, Sendable, Identifiable {
    package var id = ""
    package var title = ""
    @Transient package var isOpen = false

    package init() {}
}

/// An element with a collection of elements.
@ObservableState
package struct Group: Equatable, Sendable, Identifiable {
    package var id = 0
    package var items: Keyed<Item> = []

    package init() {}

    fileprivate mutating func change(_ change: (inout Keyed<Item>) -> Void) { change(&items) }
}

/// An element with an id that its JSON does not have.
@ObservableState
package struct Ticket: Equatable, Sendable, Identifiable {
    package var number = 0
    package var id: String { "#\(number)" }

    package init() {}
}

/// An activity with a payload.
///
/// A field of the payload is in memory only.
@ObservableState
package enum Mode: Equatable, Sendable {
    case idle
    case writing(Draft)

    /// Edits the draft, and creates one if there is none.
    fileprivate mutating func edit(_ edit: (inout Draft) -> Void) {
        var draft = if case .writing(let draft) = self { draft } else { Draft() }
        edit(&draft)
        self = .writing(draft)
    }
}

/// The payload of an activity.
@ObservableState
package struct Draft: Equatable, Sendable {
    package var text = ""
    @Transient package var selection = 0

    package init(text: String = "") { self.text = text }
}

/// The half of the app's state that is in memory only.
@ObservableState
package struct Screen: Equatable, Sendable {
    package var lastEvent: String?

    package init() {}
}

/// One event for each way to change a session.
@AppEvent
package enum TallyEvent: Equatable {
    case add(Int)
    case set(Int)
    case rename(String)
    @Sensitive case note(String?)
    case mark(Int)
    case bounds(low: Int, high: Int)
    case limits(Bounds)
    case span(low: Int, high: Int)
    case ratio(Double)
    case blowUp
    case peek
    case quietAdd(Int)
    case nothing
    case chain(Int)
    case slow
    case insert(id: String, at: Int)
    case quietInsert(id: String, at: Int)
    case retitle(id: String, title: String)
    case quietRetitle(id: String, title: String)
    case open(String)
    case drop(String)
    case quietDrop(String)
    case move(id: String, to: Int)
    case insertGroup(id: Int, at: Int)
    case dropGroup(Int)
    case moveGroup(id: Int, to: Int)
    case insertIn(group: Int, id: String, at: Int)
    case retitleIn(group: Int, id: String, title: String)
    case dropIn(group: Int, id: String)
    case moveIn(group: Int, id: String, to: Int)
    case issue(Int)
    case idle
    case write(String)
    case select(Int)
    case forget

    package var persist: Bool {
        switch self {
        case .peek, .quietAdd, .quietInsert, .quietRetitle, .quietDrop, .select, .forget: false
        default: true
        }
    }
    package var isUIEvent: Bool { true }
}

/// The app of the fixture.
///
/// `chain(n)` dispatches `chain(n - 1)`, and `slow` has an asynchronous effect.
package struct TallyApp: AppDefinition {
    package typealias State = AppState<Tally, Screen>

    package let name = "tally"
    package let sessionPolicy: SessionPolicy
    package let quota: StorageQuota
    package let defaultState = State(t: Screen(), p: Tally())

    package init(sessionPolicy: SessionPolicy = .onDemand, quota: StorageQuota = .none) {
        (self.sessionPolicy, self.quota) = (sessionPolicy, quota)
    }

    package var bindings: [StateBinding<TallyEvent>] {
        [
            StateBinding("/p/count", TallyEvent.set),
            StateBinding("/p/title", TallyEvent.rename),
            StateBinding("/p/limits", TallyEvent.limits),
            StateBinding("/p/items/*/title", TallyEvent.retitle),
        ]
    }

    package func reduce(into state: inout State, event: TallyEvent) throws {
        switch event {
        case .add(let amount), .quietAdd(let amount): state.p.count += amount
        case .set(let count): state.p.count = count
        case .rename(let title):
            state.p.title = title
            guard !title.isEmpty else { throw RejectionError("title must not be empty") }
        case .note(let note): state.p.note = note
        case .mark(let mark): state.p.marks.append(mark)
        case .bounds(let low, let high):
            state.p.limits.low = low
            state.p.limits.high = high
        case .limits(let limits): state.p.limits = limits
        case .span(let low, let high): state.p.limits = Bounds(low: low, high: high)
        case .ratio(let ratio): state.p.ratio = ratio
        case .blowUp: state.p.ratio = .infinity
        case .chain(let count): state.p.marks.append(count)
        case .peek, .slow: break
        case .nothing: return
        case .forget: return forgetWhatIsInMemoryOnly(of: &state)
        case .issue, .idle, .write, .select: reduceMode(of: &state.p, event)
        case .insertGroup, .dropGroup, .moveGroup, .insertIn, .retitleIn, .dropIn, .moveIn:
            reduceGroups(of: &state.p.groups, event)
        default: reduceItems(of: &state.p.items, event)
        }
        state.t.lastEvent = event.eventName
    }

    /// Resets all fields that are not stored to their defaults.
    private func forgetWhatIsInMemoryOnly(of state: inout State) {
        state.t = Screen()
        state.p.note = nil
        for item in state.p.items where item.isOpen { state.p.items[id: item.id]?.isOpen = false }
        state.p.mode = if case .writing(let draft) = state.p.mode { .writing(Draft(text: draft.text)) } else { .idle }
    }

    private func reduceMode(of tally: inout Tally, _ event: TallyEvent) {
        switch event {
        case .issue(let number):
            var ticket = Ticket()
            ticket.number = number
            tally.tickets.insert(ticket, at: 0)
        case .idle: tally.mode = .idle
        case .write(let text): tally.mode.edit { $0.text = text }
        case .select(let place): tally.mode.edit { $0.selection = place }
        default: break
        }
    }

    private func reduceGroups(of groups: inout Keyed<Group>, _ event: TallyEvent) {
        switch event {
        case .insertGroup(let id, let position):
            var group = Group()
            group.id = id
            groups.insert(group, at: min(max(position, 0), groups.count))
        case .dropGroup(let id): groups.remove(id: id)
        case .moveGroup(let id, let position): groups.move(id: id, to: min(max(position, 0), max(groups.count - 1, 0)))
        case .insertIn(let group, let id, let position):
            groups[id: group]?.change { reduceItems(of: &$0, .insert(id: id, at: position)) }
        case .retitleIn(let group, let id, let title):
            groups[id: group]?.change { reduceItems(of: &$0, .retitle(id: id, title: title)) }
        case .dropIn(let group, let id): groups[id: group]?.change { reduceItems(of: &$0, .drop(id)) }
        case .moveIn(let group, let id, let position):
            groups[id: group]?.change { reduceItems(of: &$0, .move(id: id, to: position)) }
        default: break
        }
    }

    private func reduceItems(of items: inout Keyed<Item>, _ event: TallyEvent) {
        switch event {
        case .insert(let id, let position), .quietInsert(let id, let position):
            var item = Item()
            item.id = id
            items.insert(item, at: min(max(position, 0), items.count))
        case .retitle(let id, let title), .quietRetitle(let id, let title): items[id: id]?.title = title
        case .open(let id): items[id: id]?.isOpen = true
        case .drop(let id), .quietDrop(let id): items.remove(id: id)
        case .move(let id, let position): items.move(id: id, to: min(max(position, 0), max(items.count - 1, 0)))
        default: break
        }
    }

    package func effect(after event: EngineEvent, state: State) -> Effect<TallyEvent> {
        switch event {
        case .restored(let version): .dispatch(.rename("restored from \(version)"))
        case .reset: .none
        }
    }

    package func effect(of event: TallyEvent, state: State) -> Effect<TallyEvent> {
        switch event {
        case .chain(let count) where count > 0: .dispatch(.chain(count - 1))
        case .slow: .run { dispatch in dispatch(.rename("slow is done")) }
        default: .none
        }
    }
}
