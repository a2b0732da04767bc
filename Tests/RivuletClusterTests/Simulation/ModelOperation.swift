import RivuletBase
import RivuletCluster
import RivuletSessions
import RivuletStores

/// An operation of a client, which is known again in the log by its number.
enum ModelOperation {
    static let app = "s"

    static func bytes(of id: Int, padding: Int = 0) -> [UInt8] {
        [UInt8(truncatingIfNeeded: id >> 8), UInt8(truncatingIfNeeded: id)] + [UInt8](repeating: 7, count: padding)
    }

    static func id(of bytes: [UInt8]) -> Int { bytes.count < 2 ? -1 : Int(bytes[0]) << 8 | Int(bytes[1]) }

    /// The number of an operation; nil for one of a node.
    static func id(of operation: Operation) -> Int? {
        switch operation {
        case .create(_, let epoch, _, _, _, _): Int(epoch)
        case .append(_, _, let entries, _, _): entries.first.map { id(of: $0.event) }
        case .delete(let key): Int(key.id)
        case .items(_, let changes, _, _):
            if case .put(_, let document)? = changes.first { id(of: document) } else { nil }
        default: nil
        }
    }

    static func create(_ session: String, id: Int) -> Operation {
        .create(
            SessionKey(app: app, id: session),
            epoch: String(id),
            time: 0,
            snapshot: nil,
            owner: nil,
            quota: .none
        )
    }

    static func append(_ session: String, _ head: SimulatedContent.Session, id: Int, padding: Int) -> Operation {
        let event = bytes(of: id, padding: padding)
        let entry = LogEntry(version: head.version + 1, time: 0, commandID: nil, event: event, changes: [])
        return .append(
            SessionKey(app: app, id: session),
            at: .after(epoch: head.epoch, version: head.version),
            entries: [entry],
            answers: .none,
            quota: .none
        )
    }

    static func item(_ key: String, id: Int) -> Operation {
        .items(collection: "c", changes: [.put(key: key, document: bytes(of: id))], time: 0, itemsMax: 100)
    }

    /// Deletes a session that does not exist, under the operation's number.
    static func delete(id: Int) -> Operation { .delete(SessionKey(app: app, id: String(id))) }
}
