// Measures the cost of an event: reduced and recorded, and as a whole dispatch into a session.

import CounterFixture
import RivuletEngine
import RivuletObservation
import RivuletSessions

/// Times of the fixture's counter, as the best of several rounds. Other work on the machine only adds time.
enum EventTimes {
    private static let rounds = 7
    private static let count = 100_000

    /// Prints nanoseconds for each event. `session` is resident and stored.
    static func report(in session: Session) {
        print("one event of the counter, nanoseconds each, best of \(rounds) rounds of \(count)")
        let engine = EventEngine(TallyApp())
        var state = TallyApp().defaultState
        measure("reduced and recorded, one changed field") { index in
            do {
                let step = try engine.apply([.set(index % 90)], to: &state)
                guard step.recording.changes.count == 1 else { fatalError("an event changed nothing") }
            } catch {
                fatalError("\(error)")
            }
        }
        let bodies = (0..<90).map { DispatchRequest(body: Array(#"{"set":\#($0)}"#.utf8)) }
        measure("a dispatch from its body to its answer, with its log entry, without a disk") { index in
            session.dispatch(bodies[index % 90]) { answer in
                // The first event also changes the name of the last event.
                guard case .success(let answer) = answer, !answer.changes.isEmpty else {
                    fatalError("an event changed nothing: \(answer)")
                }
            }
        }
    }

    private static func measure(_ title: String, _ body: (Int) -> Void) {
        var best = Duration.seconds(3600)
        for _ in 0..<rounds {
            let took = ContinuousClock().measure {
                for index in 0..<count { body(index) }
            }
            best = min(best, took)
        }
        print("- \(title): \(Int((best / .nanoseconds(1) / Double(count)).rounded()))")
    }
}
