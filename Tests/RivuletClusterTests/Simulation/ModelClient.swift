import RivuletCluster
import RivuletSessions

/// The clients of a cluster: their writes, the answers, and what they have seen of each session.
struct ModelClient {
    static let sessions = ["x", "y", "z"]

    struct Written {
        /// The end of the log when the operation was submitted.
        let begun: LogPosition
        /// The session's index; nil for an operation of no session.
        let session: Int?
        var result: Result<OperationOutcome, StorageError>?
    }

    private(set) var operations: [Written] = []
    /// The place of the last message of each session that a client knows to be durable.
    var floors = [LogPosition](repeating: .start, count: Self.sessions.count)
    var mustRead = false
    private weak var lastServer: ModelProcess?

    /// True if there is news since the last read, or another server.
    func needsRead(of server: ModelProcess) -> Bool { mustRead || lastServer !== server }

    mutating func didRead(at server: ModelProcess) { (mustRead, lastServer) = (false, server) }

    /// Makes the next operation from what a process has in its copy.
    func next(_ world: Simulation, at process: ModelProcess) -> (Operation, session: Int?) {
        let id = operations.count
        let session = world.number(below: Self.sessions.count)
        switch world.number(below: 10) {
        case 0: return (ModelOperation.item("k\(session)", id: id), nil)
        case 1: return (ModelOperation.delete(id: id), nil)
        case 2: return (ModelOperation.create(Self.sessions[session], id: id), session)
        default:
            guard let head = process.replica.state.content.sessions[Self.sessions[session]] else {
                return (ModelOperation.create(Self.sessions[session], id: id), session)
            }
            let padding = world.number(below: 20) == 0 ? 2_500 : 0
            return (
                ModelOperation.append(Self.sessions[session], head, id: id, padding: padding), session
            )
        }
    }

    mutating func begin(at place: LogPosition, session: Int?) -> Int {
        operations.append(Written(begun: place, session: session))
        return operations.count - 1
    }

    /// Notes an answer; false if there was one before.
    mutating func answer(_ id: Int, _ result: Result<OperationOutcome, StorageError>) -> Bool {
        guard operations[id].result == nil else { return false }
        operations[id].result = result
        return true
    }
}
