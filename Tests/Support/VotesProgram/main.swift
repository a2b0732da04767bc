import Rivulet

@ObservableState
struct Votes: PersistentState {
    var yes = 0
    var no = 0
}

@AppEvent
enum VoteEvent {
    case yes, no
}

struct VotesApp: AppDefinition {
    let name = "votes"
    let defaultState = AppState(t: EmptyTransient(), p: Votes())

    func reduce(into state: inout AppState<Votes, EmptyTransient>, event: VoteEvent) {
        switch event {
        case .yes: state.p.yes += 1
        case .no: state.p.no += 1
        }
    }
}

let options = ServerOptions(port: 0, secretKey: try SecretKey(keptIn: "votes-data"))
let server = StateServer(options: options, storage: SQLiteStorageEngine(folder: "votes-data"))
try server.host(VotesApp())
try server.run { url in print("votes at \(url)") }
