import DequeModule

/// Answers by their ids, and in the order in which they came.
struct KeptAnswerTable {
    /// By the bytes of the ids: texts that Swift holds equal are not the same id.
    private var byID: [[UInt8]: KeptAnswer] = [:]
    /// Oldest first; an answer whose place another has taken may still be named.
    private var order: Deque<(id: [UInt8], time: Int64)> = []
    /// The sum of their `KeptAnswer.byteCount`.
    private(set) var byteCount = 0

    var count: Int { byID.count }

    subscript(id: String) -> KeptAnswer? { byID[Array(id.utf8)] }

    mutating func keep(_ kept: KeptAnswers) {
        guard !kept.answers.isEmpty else { return }
        drop(before: kept.droppingBefore)
        for answer in kept.answers {
            let id = Array(answer.id.utf8)
            byteCount += answer.byteCount - (byID.updateValue(answer, forKey: id)?.byteCount ?? 0)
            order.append((id, answer.time))
        }
    }

    func usage(since time: Int64) -> KeptAnswersUsage {
        let answers = byID.values.filter { $0.time >= time }
        return KeptAnswersUsage(
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
