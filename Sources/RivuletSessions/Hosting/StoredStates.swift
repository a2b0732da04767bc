public import RivuletEngine
import Synchronization

/// Stores each document as the snapshot of a session of its own, with an empty log.
public final class StoredStates: StateStorage {
    /// The app's name under which the documents are stored.
    private static let app = "state"
    /// The most bytes of a session's id.
    private static let idBytesMax = 128

    private let engine: any StorageEngine
    private let time: @Sendable () -> Int64
    private let heads = Mutex<[SessionKey: SessionHead]>([:])

    /// Stores documents in an engine that was started; `time` returns the calendar time, in milliseconds since
    /// 1970-01-01T00:00:00Z.
    public init(engine: any StorageEngine, time: @escaping @Sendable () -> Int64) {
        self.engine = engine
        self.time = time
    }

    /// Reads the document under a key.
    ///
    /// - Throws: ``StorageError``.
    public func load(_ key: String) async throws -> [UInt8]? {
        let session = try Self.session(key)
        let stored = try await reply { engine.log.load(session, reply: $0) }
        heads.withLock { $0[session] = stored?.head }
        return stored?.snapshot?.state
    }

    /// Writes the document under a key; it is on disk when this returns, if the engine has a disk.
    ///
    /// - Throws: ``StorageError``.
    public func save(_ document: [UInt8], under key: String) async throws {
        let session = try Self.session(key)
        let snapshot = StateSnapshot(version: 0, schema: 1, state: document)
        // Another process may have deleted or replaced the stored state: then the head is read again, once.
        if let head = heads.withLock({ $0[session] }), try await isReplaced(session, head, snapshot) { return }
        if let head = try await reply({ engine.log.load(session, reply: $0) })?.head {
            guard try await isReplaced(session, head, snapshot) else {
                throw StorageError.unavailable(
                    detail: "another writer has just created the stored state \"\(key)\" again"
                )
            }
            return
        }
        let epoch = RandomToken.epoch()
        switch try await reply({
            engine.log.create(session, epoch: epoch, time: time(), snapshot: snapshot, reply: $0)
        }) {
        case .created(let head): heads.withLock { $0[session] = head }
        case .exists:
            throw StorageError.unavailable(detail: "another writer has just created the stored state \"\(key)\"")
        }
    }

    private func isReplaced(
        _ session: SessionKey,
        _ head: SessionHead,
        _ snapshot: StateSnapshot
    ) async throws -> Bool {
        let outcome = try await reply {
            engine.log.compact(session, at: head, snapshot: snapshot, keeping: LogKeeping(from: 1), reply: $0)
        }
        guard case .compacted(let head, _) = outcome else {
            heads.withLock { $0[session] = nil }
            return false
        }
        heads.withLock { $0[session] = head }
        return true
    }

    /// Returns the session of a key.
    ///
    /// Each byte except letters, digits and `-` becomes `_` and two hexadecimal digits.
    ///
    /// - Throws: `.unavailable` for a key that is too long for an id.
    private static func session(_ key: String) throws(StorageError) -> SessionKey {
        let digits = Array("0123456789abcdef".utf8)
        var id: [UInt8] = []
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                id.append(byte)
            default:
                id += [UInt8(ascii: "_"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        guard id.count <= idBytesMax else {
            throw .unavailable(detail: "the persistenceKey \"\(key)\" makes an id over \(idBytesMax) bytes: shorten it")
        }
        return SessionKey(app: app, id: String(decoding: id, as: UTF8.self))
    }

    private func reply<Value: Sendable>(_ request: (@escaping StorageReply<Value>) -> Void) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            request { continuation.resume(with: $0) }
        }
    }
}
