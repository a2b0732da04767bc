// Owns an app with events that write texts of any size, stored ones and transient ones.

import RivuletEngine
import RivuletJSON
import RivuletObjects
import RivuletObservation

@ObservableState
struct Notebook: PersistentState {
    var text = ""
    var lines: Keyed<NotebookLine> = []
    @ObservableStateWrapper(OmitCoding<String?>.self) @ObservationStateIgnored
    var secret: String?
}

@ObservableState
struct NotebookLine: Identifiable, Equatable, Sendable {
    var id: String
    var text = ""
    @Transient var isOpen = false
}

@ObservableState
struct NotebookDesk: Equatable, Sendable {
    var sketch = ""
    var place: NotebookPlace?
}

@ObservableState
struct NotebookPlace: Equatable, Sendable {
    var line = 0
}

@AppEvent
enum NotebookEvent {
    case write(String)
    case draft(String)
    case sketch(String)
    case add(String, text: String)
    case drop(String)
    case open(String)
    case go(Int)
    case hide(String)

    var persist: Bool {
        switch self {
        case .draft, .sketch, .open, .go: false
        default: true
        }
    }
    var isUIEvent: Bool { true }
}

final class NotebookView: ObservableObject {
    @Published var text: String

    init(text: String) { self.text = text }
}

@StateForwarder(
    for: NotebookView.self,
    from: NotebookApp.State.self,
    mapping: [(\NotebookApp.State.p.text, \NotebookView.text)]
)
struct NotebookForwarder {}

struct NotebookApp: AppDefinition {
    typealias State = AppState<Notebook, NotebookDesk>

    let name = "tally"
    let defaultState = State(t: NotebookDesk(), p: Notebook())

    var views: [StateView<State>] { [StateView(NotebookForwarder.self)] }

    func reduce(into state: inout State, event: NotebookEvent) {
        switch event {
        case .write(let text), .draft(let text): state.p.text = text
        case .sketch(let sketch): state.t.sketch = sketch
        case .add(let id, let text): state.p.lines.append(NotebookLine(id: id, text: text))
        case .drop(let id): state.p.lines.remove(id: id)
        case .open(let id): state.p.lines[id: id]?.isOpen = true
        case .go(let line): state.t.place = NotebookPlace(line: line)
        case .hide(let secret): state.p.secret = secret
        }
    }
}

/// A text of `count` letters.
func letters(_ count: Int) -> String { String(repeating: "a", count: count) }
