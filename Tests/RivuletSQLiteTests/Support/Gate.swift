// Holds an engine's thread, so that requests gather behind it.

import Dispatch
import RivuletSessions

/// A gate that blocks an engine's thread until it is opened.
struct Gate {
    private let semaphore = DispatchSemaphore(value: 0)

    /// Blocks the writing thread at the gate.
    ///
    /// `first` runs on the thread just before.
    func holdWriter(of engine: some StorageEngine, first: @escaping @Sendable () -> Void = {}) async {
        await withCheckedContinuation { continuation in
            engine.lifecycle.probe { [semaphore] _ in
                first()
                continuation.resume()
                semaphore.wait()
            }
        }
    }

    /// Blocks the reading thread at the gate.
    func holdReader(of engine: some StorageEngine) async {
        await withCheckedContinuation { continuation in
            engine.directory.sessions(app: "none", after: nil, limit: 1) { [semaphore] _ in
                continuation.resume()
                semaphore.wait()
            }
        }
    }

    /// Releases the thread.
    func open() {
        semaphore.signal()
    }
}

/// Collects the answers to a number of requests.
actor Answers<Value: Sendable> {
    private let expected: Int
    private var values: [Int: Result<Value, StorageError>] = [:]
    private var waiter: CheckedContinuation<Void, Never>?

    init(expecting count: Int) {
        expected = count
    }

    /// The reply of one request.
    nonisolated func reply(_ index: Int) -> StorageReply<Value> {
        { result in Task { await self.add(index, result) } }
    }

    /// All answers, by request.
    func all() async -> [Result<Value, StorageError>] {
        if values.count < expected { await withCheckedContinuation { waiter = $0 } }
        return (0..<expected).compactMap { values[$0] }
    }

    private func add(_ index: Int, _ result: Result<Value, StorageError>) {
        values[index] = result
        guard values.count == expected else { return }
        waiter?.resume()
        waiter = nil
    }
}
