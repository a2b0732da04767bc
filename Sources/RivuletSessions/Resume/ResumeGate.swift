/// Bounds the memory that resuming streams and requests for the past take: each of them holds a part of a log while it is read.
///
/// On the shard's thread.
package final class ResumeGate {
    private let underWayMax: Int
    private var underWay = 0

    /// Lets so many read logs at once.
    package init(underWayMax: Int) {
        self.underWayMax = underWayMax
    }

    /// Takes a place; false when there is none.
    func begin() -> Bool {
        guard underWay < underWayMax else { return false }
        underWay += 1
        return true
    }

    /// Gives the place back.
    func end() {
        underWay -= 1
    }
}

/// The reads of logs that one part of a session has under way; each has its place in the shard's ``ResumeGate``.
final class LogReads {
    private let gate: ResumeGate
    /// How many wait for storage.
    private(set) var count = 0

    init(_ gate: ResumeGate) {
        self.gate = gate
    }

    /// Begins a read; false when there is no place for it.
    func begin() -> Bool {
        guard gate.begin() else { return false }
        count += 1
        return true
    }

    /// Takes down that storage has answered.
    func end() {
        count -= 1
        gate.end()
    }
}

extension Session {
    /// Asks storage for a part of the log; the session stays in memory until the answer is there.
    ///
    /// - Returns: False when too many read logs already: nothing is asked.
    func askLog<Answer: Sendable>(
        _ reads: LogReads,
        _ question: (_ storage: SessionStorage, _ reply: @escaping StorageReply<Answer>) -> Void,
        then body: @escaping (_ session: Session, _ answer: Result<Answer, StorageError>) -> Void
    ) -> Bool {
        guard reads.begin() else { return false }
        ask(question) { session, answer in
            reads.end()
            body(session, answer)
        }
        return true
    }
}
