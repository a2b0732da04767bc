// Measures the cost of an event in a session that many groups of streams watch.

import CounterFixture
import RivuletJSON
import RivuletSessions

/// Times of an event that changes one field, by the streams that watch the session.
enum WatcherTimes {
    private static let rounds = 7
    private static let groups = 10_000

    /// Prints nanoseconds for each event.
    ///
    /// `session` is resident and stored, and has no streams.
    static func report(in session: Session) {
        print("one event that changes /p/count, nanoseconds each, best of \(rounds) rounds")
        measure("no stream watches the session", session, count: 20_000)
        subscribe(session) { [JSONPointer(tokens: ["p", "items", "\($0)", "title"])] }
        measure("\(groups) groups each watch a field of another element", session, count: 20_000)
        subscribe(session) { [JSONPointer(tokens: ["p", "items", "*", "\($0 % 2 == 0 ? "title" : "id")", "x\($0)"])] }
        measure("the same, and \(groups) groups with a wildcard", session, count: 20_000)
        subscribe(session) { [JSONPointer(tokens: ["p", "count"]), JSONPointer(tokens: ["p", "items", "n\($0)"])] }
        measure("the same, and \(groups) groups that each watch and get /p/count", session, count: 20)
    }

    private static func subscribe(_ session: Session, paths: (Int) -> [JSONPointer]) {
        // Each set of paths has a group with one stream. More streams would exceed the limit of a session.
        for index in 0..<groups {
            session.subscribe(
                StreamRequest(
                    stream: StreamID(loop: 0, connection: UInt64(index)),
                    topic: StreamTopic(paths: paths(index)),
                    resume: nil
                )
            )
        }
    }

    private static func measure(_ title: String, _ session: Session, count: Int) {
        let bodies = (0..<90).map { DispatchRequest(body: Array(#"{"set":\#($0)}"#.utf8)) }
        var best = Duration.seconds(3600)
        for _ in 0..<rounds {
            let took = ContinuousClock().measure {
                for index in 0..<count {
                    session.dispatch(bodies[index % 90]) { answer in
                        guard case .success = answer else { fatalError("an event was refused: \(answer)") }
                    }
                }
            }
            best = min(best, took)
        }
        print("- \(title): \(Int((best / .nanoseconds(1) / Double(count)).rounded()))")
    }
}
