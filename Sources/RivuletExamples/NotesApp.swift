import FoundationEssentials
import Rivulet

/// A note: a draft of one session, or a note that all visitors share.
@ObservableState
struct Note: Identifiable, Equatable, Sendable {
    var id: String
    var text: String
    /// The time of publication, or 1970 in a draft.
    var created: Date
}

/// The stored half of one session: the selected note and the unpublished drafts.
@ObservableState
struct Desk: PersistentState {
    var selected: Note.ID?
    var drafts: Keyed<Note> = []
}

/// The events of a desk.
@AppEvent
enum NotesEvent {
    case select(String?)
    case saveDraft(id: String, text: String)
    /// Moves a draft into the store, where all visitors see it.
    case publish(String)
    case discardDraft(String)
}

/// The notes app.
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

    /// Creates the app with a storage for shared data.
    ///
    /// `keys` seal the app's secret. If they are nil, the secret cannot be read or set.
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
            guard !id.isEmpty else { throw RejectionError("a draft needs an id") }
            state.p.drafts.updateOrAppend(Note(id: id, text: text, created: Date(timeIntervalSince1970: 0)))
        case .publish(let id):
            guard state.p.drafts.contains(id: id) else { throw RejectionError("there is no draft \"\(id)\"") }
        case .discardDraft(let id): state.p.drafts.remove(id: id)
        }
    }

    func effect(of event: NotesEvent, state: State) -> Effect<NotesEvent> {
        guard case .publish(let id) = event, let draft = state.p.drafts[id: id] else { return .none }
        return .run(.beforeNextEvent) { [notes, now] dispatch in
            // The next event waits until the note is stored or refused. After a failed insertion the draft stays.
            try await notes.insert(Note(id: id, text: draft.text, created: now()))
            dispatch(.discardDraft(id))
        }
    }
}
