// A node's copy with `await` instead of replies, and the frames that are applied to it.

import RivuletCluster
import RivuletSQLite
import RivuletSessions
import RivuletStores

/// The frames of a log, in their order.
struct FrameChain {
    static let cluster = "c7"

    private(set) var link = FrameLink.start
    private(set) var position = LogPosition.start

    /// The next frame with these operations.
    mutating func next(_ operations: [Operation], cluster: String = Self.cluster, term: UInt64 = 1) -> PositionedFrame {
        let frame = Frame(
            cluster: cluster,
            partition: .first,
            previous: link,
            term: term,
            nonce: link.number,
            operations: operations
        )
        // The log numbers its messages with gaps.
        position = LogPosition(rawValue: position.rawValue + 1 + frame.number % 3)
        let hash = FrameHash(high: ~frame.number, low: frame.number &* 0x9E37_79B9_7F4A_7C15)
        link = FrameLink(number: frame.number, term: frame.term, hash: hash)
        return PositionedFrame(position: position, frame: frame, hash: hash)
    }
}

extension SQLiteStorageEngine {
    @discardableResult
    func apply(_ frames: [PositionedFrame]) async throws(StorageError) -> [OperationOutcome] {
        try await answer { apply(frames, of: .first, reply: $0) }
    }

    func position() async throws(StorageError) -> ReplicaPosition {
        try await answer { position(of: .first, reply: $0) }
    }

    func export(frameBytesMax: Int = 4_096) async throws(StorageError) -> ReplicaExport {
        try await answer { export(.first, frameBytesMax: frameBytesMax, reply: $0) }
    }

    func load(_ base: ReplicaExport) async throws(StorageError) {
        try await answer { load(base, of: .first, reply: $0) }
    }

    func contentHash() async throws(StorageError) -> ContentHash {
        try await answer { contentHash(of: .first, reply: $0) }
    }

    func contents(of collection: String) async throws -> StoredCollection {
        try await withCheckedContinuation { continuation in
            items(of: collection) { continuation.resume(returning: $0) }
        }.get()
    }

    func answer<Value: Sendable>(
        _ request: (@escaping StorageReply<Value>) -> Void
    ) async throws(StorageError) -> Value {
        let result = await withCheckedContinuation { continuation in
            request { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}

extension TemporaryFolder {
    /// Creates and starts a node's copy in this folder, which does no maintenance by itself unless a test enables it.
    func replica(_ change: (inout SQLiteStorageLimits) -> Void = { _ in }) throws -> SQLiteStorageEngine {
        var limits = SQLiteStorageLimits()
        limits.idleMilliseconds = 3_600_000
        limits.removedTextMillisecondsMax = 3_600_000
        change(&limits)
        let engine = SQLiteStorageEngine(replicaIn: path, limits: limits)
        try engine.start()
        return engine
    }
}

extension OperationOutcome {
    /// The outcome without the token, which each copy has for itself.
    var withoutToken: OperationOutcome {
        func strip(_ head: SessionHead) -> SessionHead {
            SessionHead(epoch: head.epoch, version: head.version, token: 0)
        }
        return switch self {
        case .created(.created(let head)): .created(.created(strip(head)))
        case .created(.exists(let head)): .created(.exists(strip(head)))
        case .appended(.committed(let head)): .appended(.committed(strip(head)))
        case .compacted(.compacted(let head, let retained)):
            .compacted(.compacted(strip(head), retained: retained))
        default: self
        }
    }
}
