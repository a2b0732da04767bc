import FoundationEssentials
import Rivulet

/// A note: a draft of one session, or one that everybody has.
@ObservableState
struct Note: Identifiable, Equatable, Sendable {
    var id: String
    var text: String
    /// When it was published; a draft is of 1970.
    var created: Date
}

/// What one session keeps: the note that it looks at, and what it has not published.
@ObservableState
struct Desk: PersistentState {
    var selected: Note.ID?
    var drafts: Keyed<Note> = []
}

/// What can happen at a desk.
@AppEvent
enum NotesEvent {
    case select(String?)
    case saveDraft(id: String, text: String)
    /// Moves a draft into the store, where everybody has it.
    case publish(String)
    case discardDraft(String)

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

/// The notes, as the server hosts them.
struct NotesApp: SharingApp {
    typealias State = AppState<Desk, EmptyTransient>

    let name = "notes"
    let defaultState = State(t: EmptyTransient(), p: Desk())

    private let notes: Store<Note>
    private let theme: StoredValue<String>
    private let hapticsEnabled: StoredValue<Bool>
    private let recent: StoredValue<[String]>
    private let apiToken: SecurelyStoredValue<String>
    private let now: @Sendable () -> Date

    /// Keeps what all sessions share in a storage, and seals the secret among it with keys; nil: there are none.
    init(storage: any ItemStorage, keys: SealingKeys?, now: @escaping @Sendable () -> Date = { Date() }) {
        let values = storage.collection("notes.values")
        notes = Store(storage: storage.collection("notes.notes"))
        theme = StoredValue(key: "theme", default: "light", storage: values)
        hapticsEnabled = StoredValue(key: "hapticsEnabled", default: false, storage: values)
        recent = StoredValue(key: "recent", default: [], storage: values)
        apiToken = SecurelyStoredValue(key: "apiToken", storage: storage.collection("notes.secrets"), keys: keys)
        self.now = now
    }

    var stores: [SharedStore<Self>] { [SharedStore("notes", notes)] }
    var values: [SharedValue<Self>] { [SharedValue(theme), SharedValue(hapticsEnabled), SharedValue(recent)] }
    var secrets: [SharedSecret<Self>] { [SharedSecret(apiToken)] }

    func reduce(into state: inout State, event: NotesEvent) throws {
        switch event {
        case .select(let id): state.p.selected = id
        case .saveDraft(let id, let text):
            guard !id.isEmpty else { throw EventRejection("a draft needs an id") }
            state.p.drafts.updateOrAppend(Note(id: id, text: text, created: Date(timeIntervalSince1970: 0)))
        case .publish(let id):
            guard state.p.drafts.contains(id: id) else { throw EventRejection("there is no draft \"\(id)\"") }
        case .discardDraft(let id): state.p.drafts.remove(id: id)
        }
    }

    func effect(of event: NotesEvent, state: State) -> Effect<NotesEvent> {
        guard case .publish(let id) = event, let draft = state.p.drafts[id: id] else { return .none }
        return .run { [notes, now] dispatch in
            // The draft goes when everybody has the note: what fails here leaves it where it is.
            try await notes.insert(Note(id: id, text: draft.text, created: now()))
            dispatch(.discardDraft(id))
        }
    }
}
