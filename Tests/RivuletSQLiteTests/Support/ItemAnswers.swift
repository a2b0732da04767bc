// Collects the answers of the item storage.

import RivuletStores

/// Answers in the order of their requests.
actor ItemAnswers<Value: Sendable> {
    private let expected: Int
    private var values: [Int: Result<Value, ItemStorageError>] = [:]
    private var waiter: CheckedContinuation<Void, Never>?

    init(expecting count: Int) {
        expected = count
    }

    /// The reply of one request.
    nonisolated func reply(_ index: Int) -> ItemStorageReply<Value> {
        { result in Task { await self.add(index, result) } }
    }

    /// All answers, by request.
    func all() async -> [Result<Value, ItemStorageError>] {
        if values.count < expected { await withCheckedContinuation { waiter = $0 } }
        return (0..<expected).compactMap { values[$0] }
    }

    private func add(_ index: Int, _ result: Result<Value, ItemStorageError>) {
        values[index] = result
        guard values.count == expected else { return }
        waiter?.resume()
        waiter = nil
    }
}

extension Result {
    /// The error of a failure; nil for a success.
    var error: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
