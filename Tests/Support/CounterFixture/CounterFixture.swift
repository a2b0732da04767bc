// Part of Rivulet. See README.md for the architecture.
// Owns a small app that engine, session and server tests share.

package import RivuletEngine
import RivuletJSON
package import RivuletObservation

/// The stored half.
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

    package init() {}
}

/// A nested state.
@ObservableState
package struct Bounds: Equatable, Sendable {
    package var low = 0
    package var high = 80

    package init() {}
}

/// An element of a keyed collection.
@ObservableState
package struct Item: Equatable, Sendable, Identifiable {
    package var id = ""
    package var title = ""
    @Transient package var isOpen = false

    package init() {}
}

/// The half in memory.
@ObservableState
package struct Screen: Equatable, Sendable {
    package var lastEvent: String?

    package init() {}
}

/// One event for each way in which a session can be changed.
@AppEvent
package enum TallyEvent: Equatable {
    case add(Int)
    case set(Int)
    case rename(String)
    @Sensitive case note(String?)
    case mark(Int)
    case bounds(low: Int, high: Int)
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

    package var persist: Bool {
        switch self {
        case .peek, .quietAdd, .quietInsert, .quietRetitle, .quietDrop: false
        default: true
        }
    }
    package var isUIEvent: Bool { true }
}

/// The app; `chain(n)` dispatches `chain(n - 1)`, `slow` has an asynchronous effect.
package struct TallyApp: AppDefinition {
    package typealias State = AppState<Tally, Screen>

    package let name = "tally"
    package let sessionPolicy: SessionPolicy
    package let defaultState = State(t: Screen(), p: Tally())

    package init(sessionPolicy: SessionPolicy = .onDemand) {
        self.sessionPolicy = sessionPolicy
    }

    package func reduce(into state: inout State, event: TallyEvent) throws {
        switch event {
        case .add(let amount), .quietAdd(let amount): state.p.count += amount
        case .set(let count): state.p.count = count
        case .rename(let title):
            state.p.title = title
            guard !title.isEmpty else { throw EventRejection("title must not be empty") }
        case .note(let note): state.p.note = note
        case .mark(let mark): state.p.marks.append(mark)
        case .bounds(let low, let high):
            state.p.limits.low = low
            state.p.limits.high = high
        case .ratio(let ratio): state.p.ratio = ratio
        case .blowUp: state.p.ratio = .infinity
        case .chain(let count): state.p.marks.append(count)
        case .peek, .slow: break
        case .nothing: return
        default: reduceItems(of: &state.p, event)
        }
        state.t.lastEvent = event.eventName
    }

    private func reduceItems(of tally: inout Tally, _ event: TallyEvent) {
        switch event {
        case .insert(let id, let position), .quietInsert(let id, let position):
            var item = Item()
            item.id = id
            tally.items.insert(item, at: min(max(position, 0), tally.items.count))
        case .retitle(let id, let title), .quietRetitle(let id, let title): tally.items[id: id]?.title = title
        case .open(let id): tally.items[id: id]?.isOpen = true
        case .drop(let id), .quietDrop(let id): tally.items.remove(id: id)
        case .move(let id, let position): tally.items.move(id: id, to: position)
        default: break
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
