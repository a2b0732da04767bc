import DequeModule

/// Idempotency records by their ids, and in the order in which they came.
struct IdempotencyTable {
    /// The records by the UTF-8 bytes of their ids, because Swift's `==` treats some texts with different bytes as
    /// equal.
    private var byID: [[UInt8]: IdempotencyRecord] = [:]
    /// The ids and times of the records, oldest first.
    ///
    /// A record that was replaced may still be named here.
    private var order: Deque<(id: [UInt8], time: Int64)> = []
    /// The sum of the records' `IdempotencyRecord.byteCount`.
    private(set) var byteCount = 0

    var count: Int { byID.count }

    subscript(id: String) -> IdempotencyRecord? { byID[Array(id.utf8)] }

    mutating func keep(_ kept: IdempotencyRecords) {
        guard !kept.answers.isEmpty else { return }
        drop(before: kept.droppingBefore)
        for answer in kept.answers {
            let id = Array(answer.id.utf8)
            byteCount += answer.byteCount - (byID.updateValue(answer, forKey: id)?.byteCount ?? 0)
            order.append((id, answer.time))
        }
    }

    func usage(since time: Int64) -> IdempotencyUsage {
        let answers = byID.values.filter { $0.time >= time }
        return IdempotencyUsage(
            count: answers.count,
            byteCount: answers.reduce(0) { $0 + $1.byteCount },
            oldest: answers.map(\.time).min()
        )
    }

    private mutating func drop(before time: Int64) {
        while let first = order.first, first.time < time {
            order.removeFirst()
            guard byID[first.id]?.time == first.time else { continue }
            byteCount -= byID.removeValue(forKey: first.id)?.byteCount ?? 0
        }
    }
}
