/// Bounds the memory of resuming streams and of requests for earlier versions: each holds a part of a log while it
/// reads.
///
/// Used on the shard's thread.
package final class ResumeGate {
    private let underWayMax: Int
    private var underWay = 0

    /// Allows this number of concurrent reads of logs.
    package init(underWayMax: Int) {
        self.underWayMax = underWayMax
    }

    /// Takes a slot; returns false if none is free.
    func begin() -> Bool {
        guard underWay < underWayMax else { return false }
        underWay += 1
        return true
    }

    /// Takes again the slot that the same call has just released.
    func goOn() { underWay += 1 }

    /// Releases the slot.
    func end() {
        underWay -= 1
    }
}

/// The reads of logs that one part of a session has under way; each has a slot in the shard's ``ResumeGate``.
final class LogReads {
    private let gate: ResumeGate
    /// The number of reads that have a slot: they wait for storage, or for a job that uses storage's answer.
    private(set) var count = 0

    init(_ gate: ResumeGate) {
        self.gate = gate
    }

    /// Begins a read; returns false if no slot is free.
    func begin() -> Bool {
        guard gate.begin() else { return false }
        count += 1
        return true
    }

    /// Keeps the slot of a read that storage has just answered, for the work that follows.
    func goOn() {
        gate.goOn()
        count += 1
    }

    /// Ends a read, because storage has answered or the job after the answer is done.
    func end() {
        count -= 1
        gate.end()
    }
}

extension Session {
    /// Requests a part of the log from storage; the session stays in memory until the answer has come.
    ///
    /// - Returns: False if too many reads of logs are under way; then nothing is requested.
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
