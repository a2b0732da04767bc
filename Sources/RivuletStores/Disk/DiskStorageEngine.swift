internal import Dispatch
internal import Glibc
import RivuletBase
internal import Synchronization

/// Stores each document in its own file, below a directory that only one engine uses at a time.
///
/// Use it for a few thousand documents that are large, or that other programs read as files. For many small documents a
/// database is faster. Requests are answered one after the other on one thread. A commit is on disk when it is
/// answered. It is all or nothing, even if the process crashes, because a commit of several files uses a journal. File
/// names are digests of the keys, never the keys. Files and folders with other names are left alone. A missing
/// directory is read as empty, and the first commit that stores a document creates the directory.
///
/// Source: <Tests/Rows/Systems.md#e-28>.
public final class DiskStorageEngine: ItemStorage {
    private let directory: DiskFolder
    private let limits: DiskStorageLimits
    private let clock: @Sendable () -> Int64
    private let queue = DispatchQueue(label: "rivulet.storage.disk")
    private let waiting = Mutex(WaitingRequests())
    private let disk = Mutex(Disk())

    private struct WaitingRequests {
        var requests = 0
        var bytes = 0
        var isClosed = false
    }

    private struct Disk {
        var collections: [ByteText: DiskCollection] = [:]
        /// The lock of the directory; nil before the directory is locked.
        var lock: Int32?
        /// The error with which all further requests are refused; nil if they are accepted.
        var fault: ItemStorageError?
    }

    /// Creates a storage below a directory.
    ///
    /// Nothing is opened before the first request.
    ///
    /// `clock` returns milliseconds since 1970-01-01T00:00:00Z. Nil means the system's clock.
    public init(
        directory: String,
        limits: DiskStorageLimits = DiskStorageLimits(),
        clock: (@Sendable () -> Int64)? = nil
    ) {
        self.directory = DiskFolder(path: directory.isEmpty ? "." : directory)
        self.limits = limits
        self.clock = clock ?? WallClock.milliseconds
    }

    deinit {
        disk.withLock { Self.unlock(&$0) }
    }

    /// Reads a whole collection, file by file.
    public func items(of collection: String, reply: @escaping ItemStorageReply<StoredCollection>) {
        perform(byteCount: 0, reply) { [self] disk throws(ItemStorageError) in
            guard directory.isThere else { return StoredCollection() }
            try lock(&disk)
            return try disk.collections[ByteText(collection), default: made(collection)].contents()
        }
    }

    /// Makes changes in order, all or none.
    ///
    /// The changes are on disk when the reply is called.
    public func commit(_ changes: [ItemChange], to collection: String, reply: @escaping ItemStorageReply<Void>) {
        var bytes = 0
        for change in changes {
            if case .put(let key, let document) = change {
                guard key.utf8.count <= limits.keyBytesMax else {
                    return reply(.failure(.tooLarge(limitBytes: limits.keyBytesMax)))
                }
                guard document.count <= limits.documentBytesMax else {
                    return reply(.failure(.tooLarge(limitBytes: limits.documentBytesMax)))
                }
                bytes += key.utf8.count + document.count
            }
        }
        guard collection.utf8.count <= limits.keyBytesMax else {
            return reply(.failure(.tooLarge(limitBytes: limits.keyBytesMax)))
        }
        let time = clock()
        perform(byteCount: bytes, reply) { [self] disk throws(ItemStorageError) in
            try make(changes, of: collection, time: time, on: &disk)
        }
    }

    /// Unlocks the directory.
    ///
    /// Blocks until every accepted request has been answered.
    public func close() {
        waiting.withLock { $0.isClosed = true }
        queue.sync {}
        disk.withLock { Self.unlock(&$0) }
    }

    // MARK: - On the queue

    private func make(
        _ changes: [ItemChange],
        of collection: String,
        time: Int64,
        on disk: inout Disk
    ) throws(ItemStorageError) {
        if !directory.isThere {
            guard changes.contains(where: \.isPut) else { return }
            try directory.make()
        }
        try lock(&disk)
        do {
            try disk.collections[ByteText(collection), default: made(collection)]
                .commit(changes, itemsMax: limits.itemsMax, time: time)
        } catch let error as DiskCollection.Unfinished {
            let detail = "\(error.cause); check the disk of \(directory.path), then use a new storage engine"
            disk.fault = .unavailable(detail: detail)
            throw .indeterminate(detail: detail)
        } catch let error as ItemStorageError {
            throw error
        } catch {
            throw .unavailable(detail: "\(error)")
        }
        let remembered = disk.collections.values.reduce(0) { $0 + ($1.keys?.items.count ?? 0) }
        if remembered > limits.keysRememberedMax { disk.collections = [:] }
    }

    private func made(_ collection: String) -> DiskCollection { DiskCollection(collection, in: directory.path) }

    private func lock(_ disk: inout Disk) throws(ItemStorageError) {
        if let fault = disk.fault { throw fault }
        if disk.lock == nil { disk.lock = try directory.lock("rivulet.lock") }
    }

    private static func unlock(_ disk: inout Disk) {
        if let lock = disk.lock.take() { DiskFolder.unlock(lock) }
    }

    /// Queues a request, or answers at once with the reason for a refusal.
    private func perform<Value>(
        byteCount: Int,
        _ reply: @escaping ItemStorageReply<Value>,
        _ body: @escaping @Sendable (inout Disk) throws(ItemStorageError) -> Value
    ) {
        let refusal = waiting.withLock { waiting -> ItemStorageError? in
            if waiting.isClosed { return .closed }
            let isRoom =
                waiting.requests < limits.requestsWaitingMax && waiting.bytes + byteCount <= limits.bytesWaitingMax
            guard waiting.requests == 0 || isRoom else {
                let detail = "\(waiting.requests) requests with \(waiting.bytes) bytes wait for the disk; try again"
                return .unavailable(detail: detail)
            }
            waiting.requests += 1
            waiting.bytes += byteCount
            // Queued under the lock, so that close() waits for the request.
            queue.async { [self] in
                let result = answer(body)
                self.waiting.withLock { waiting in
                    waiting.requests -= 1
                    waiting.bytes -= byteCount
                }
                reply(result)
            }
            return nil
        }
        if let refusal { reply(.failure(refusal)) }
    }

    private func answer<Value>(
        _ body: (inout Disk) throws(ItemStorageError) -> Value
    ) -> Result<Value, ItemStorageError> {
        disk.withLock { disk in
            do throws(ItemStorageError) {
                return .success(try body(&disk))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension ItemChange {
    fileprivate var isPut: Bool {
        guard case .put = self else { return false }
        return true
    }
}
