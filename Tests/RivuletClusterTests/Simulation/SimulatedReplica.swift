import RivuletCluster
import RivuletEngine
import RivuletSessions
import RivuletStores

/// The content of a partition, as far as the simulation needs it.
struct SimulatedContent {
    struct Session {
        var epoch: String
        var version: UInt64
        /// The place of the last message that changed the session.
        var changed: LogPosition
        var digest: UInt64
    }

    private(set) var sessions: [String: Session] = [:]
    private(set) var items: [String: UInt64] = [:]
    private(set) var position = ReplicaPosition.start

    static func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let mixed = (one ^ other) &* 0xBF58_476D_1CE4_E5B9
        return mixed ^ (mixed >> 31)
    }

    /// A hash over the content, which does not depend on the order of dictionaries.
    var hash: UInt64 {
        var hash = position.link.number
        for (key, session) in sessions { hash ^= Self.mix(Self.number(of: key), session.digest &+ session.version) }
        for (key, item) in items { hash ^= Self.mix(Self.number(of: key), item) }
        return hash
    }

    private static func number(of text: String) -> UInt64 {
        text.utf8.reduce(7) { mix($0, UInt64($1)) }
    }

    mutating func apply(_ positioned: PositionedFrame) -> [OperationOutcome] {
        let frame = positioned.frame
        var outcomes: [OperationOutcome] = []
        for operation in frame.operations {
            let outcome = apply(operation, at: positioned.position)
            outcomes.append(outcome)
            position.ownership.apply(operation)
            if case .none = outcome { continue }
            let isConflict = if case .appended(.conflict) = outcome { true } else { false }
            position.outcomes = Self.mix(position.outcomes, isConflict ? 3 : 5) &+ positioned.position.rawValue
        }
        position.cluster = frame.cluster
        position.position = positioned.position
        position.link = FrameLink(number: frame.number, term: frame.term, hash: positioned.hash)
        return outcomes
    }

    private mutating func apply(_ operation: Operation, at place: LogPosition) -> OperationOutcome {
        switch operation {
        case .create(let key, let epoch, _, _, _, _):
            if let session = sessions[key.id] {
                return .created(.exists(SessionHead(epoch: session.epoch, version: session.version, token: 0)))
            }
            sessions[key.id] = Session(epoch: epoch, version: 0, changed: place, digest: Self.number(of: epoch))
            return .created(.created(SessionHead(epoch: epoch, version: 0, token: 0)))
        case .append(let key, .after(let epoch, let version), let entries, _, _):
            guard var session = sessions[key.id], session.epoch == epoch, session.version == version else {
                return .appended(.conflict)
            }
            for entry in entries {
                session.version = entry.version
                session.digest = Self.mix(session.digest, UInt64(ModelOperation.id(of: entry.event)))
            }
            session.changed = place
            sessions[key.id] = session
            return .appended(.committed(SessionHead(epoch: epoch, version: session.version, token: 0)))
        case .delete(let key):
            return .deleted(sessions.removeValue(forKey: key.id) != nil)
        case .items(_, let changes, _, _):
            for case .put(let key, let document) in changes { items[key] = UInt64(ModelOperation.id(of: document)) }
            return .items(nil)
        default: return .none
        }
    }

    /// The content as operations of a base: one item for each session and item, with its state as document.
    var operations: [[BaseOperation]] {
        sessions.sorted { $0.key < $1.key }.map { key, session in
            let state = [session.version, session.changed.rawValue, session.digest].flatMap(Self.bytes)
            let item = StoredItem(key: session.epoch, document: state, created: 0, updated: 0)
            return [.items(collection: key, [item])]
        }
            + items.sorted { $0.key < $1.key }.map { key, item in
                [.items(collection: "", [StoredItem(key: key, document: Self.bytes(item), created: 0, updated: 0)])]
            }
    }

    init() {}

    /// Makes the copy differ from all others.
    mutating func falsify() { position.outcomes ^= 1 }

    init(_ export: ReplicaExport) {
        position = export.position
        for case .items(let collection, let stored) in export.operations.joined() {
            for item in stored {
                let numbers = stride(from: 0, to: item.document.count, by: 8).map { begin in
                    item.document[begin..<(begin + 8)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
                }
                if collection.isEmpty {
                    items[item.key] = numbers[0]
                } else {
                    sessions[collection] = Session(
                        epoch: item.key,
                        version: numbers[0],
                        changed: LogPosition(rawValue: numbers[1]),
                        digest: numbers[2]
                    )
                }
            }
        }
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
}

/// A replica in memory, which a crash takes back to its last synced content.
final class SimulatedReplica: Replica {
    final class State {
        var content = SimulatedContent()
        var synced = SimulatedContent()
        /// The number of later applies that are on disk at once.
        var applies = 0
        /// Calls the job after a delay of the model.
        var delay: (_ job: @escaping () -> Void) -> Void = { $0() }
    }

    private let bound: LoopBound<State>
    var state: State { bound.onExecutor }

    init(_ executor: ModelExecutor) { bound = LoopBound(State(), to: executor) }

    func position(of partition: Partition, reply: @escaping StorageReply<ReplicaPosition>) {
        reply(.success(state.content.position))
    }

    func apply(
        _ frames: [PositionedFrame],
        of partition: Partition,
        reply: @escaping StorageReply<[OperationOutcome]>
    ) {
        let state = state
        state.delay {
            let outcomes = frames.flatMap { state.content.apply($0) }
            state.applies += 1
            if state.applies % 3 == 0 { state.synced = state.content }
            reply(.success(outcomes))
        }
    }

    func export(_ partition: Partition, frameBytesMax: Int, reply: @escaping StorageReply<ReplicaExport>) {
        let content = state.content
        reply(.success(ReplicaExport(position: content.position, operations: content.operations)))
    }

    func load(_ export: ReplicaExport, of partition: Partition, reply: @escaping StorageReply<Void>) {
        state.content = SimulatedContent(export)
        state.synced = state.content
        reply(.success(()))
    }

    func contentHash(of partition: Partition, reply: @escaping StorageReply<ContentHash>) {
        let content = state.content
        reply(.success(ContentHash(position: content.position.position, hash: content.hash)))
    }
}
