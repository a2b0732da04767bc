import RivuletJSON
import RivuletSessions

/// The work threads of a test: a job runs at once, or when the test says so.
final class TestWork {
    private var held: [(job: @Sendable () -> Void, done: () -> Void)] = []
    /// True if jobs wait for `runNext`.
    var isHeld = false

    /// The number of waiting jobs.
    var count: Int { held.count }

    func run(_ job: @escaping @Sendable () -> Void, _ done: @escaping () -> Void) {
        held.append((job, done))
        if !isHeld { runNext() }
    }

    /// Runs the job that has waited longest.
    func runNext() {
        guard !held.isEmpty else { return }
        let next = held.removeFirst()
        next.job()
        next.done()
    }
}

extension Session {
    /// The visible value at the path.
    ///
    /// It fails if a work thread has to write the value.
    func read(_ path: JSONPointer) -> Result<StateAnswer, SessionError> {
        var answer: Result<StateAnswer, SessionError> = .failure(.notFound(key))
        read(path) { answer = $0 }
        return answer
    }
}
