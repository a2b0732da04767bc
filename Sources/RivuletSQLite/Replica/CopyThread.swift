internal import RivuletSessions
internal import Synchronization

/// The thread on which whole copies of a replica are read, so that neither its writes nor its other reads wait.
final class CopyThread: Sendable {
    typealias Body<Value> =
        @Sendable (_ path: String, _ isCancelled: @escaping @Sendable () -> Bool) throws(StorageError) -> Value

    private let queue = WorkQueue<Request>(requestsMax: CopyThread.copiesWaitingMax, bytesMax: 0)
    private let running = Mutex<WorkerThread?>(nil)
    private let isClosed = Flag()

    private typealias Request = @Sendable (_ path: String) -> Void

    /// The most copies that wait or are read.
    private static let copiesWaitingMax = 16

    /// Begins to accept copies of a database; may be called again after another part of a start has failed.
    func start(path: String) throws(StorageError) {
        try running.withLock { [queue] running throws(StorageError) in
            if running != nil { return }
            running = try WorkerThread(name: "rivulet-copy") {
                while case .requests(let requests) = queue.take(idleMilliseconds: nil) {
                    for request in requests {
                        request(path)
                        queue.finish(1, byteCount: 0)
                    }
                }
            }
        }
        queue.open()
    }

    /// Ends the copy under way with `.closed`, and waits for the thread.
    func close() {
        isClosed.set()
        queue.close()
        running.withLock { $0.take() }?.join()
    }

    /// Runs a closure on the thread, and passes its result on.
    func submit<Value: Sendable>(_ reply: @escaping StorageReply<Value>, _ body: @escaping Body<Value>) {
        let request: Request = { [isClosed] path in
            do throws(StorageError) {
                if isClosed.isSet { throw .closed }
                reply(.success(try body(path) { isClosed.isSet }))
            } catch {
                reply(.failure(error))
            }
        }
        if let refusal = queue.submit(request, byteCount: 0) { reply(.failure(refusal)) }
    }
}

/// A flag that is set once.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}
