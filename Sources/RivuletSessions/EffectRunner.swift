// Part of Rivulet. See README.md for the architecture.
// Owns the bridge from a session's turn to asynchronous effects and back.

import Synchronization

/// Runs one effect at a time limit.
enum EffectRunner {
    /// How an effect came to its end.
    enum Outcome: Sendable {
        case finished
        /// It took too long; it was cancelled, and whatever it still dispatches is queued like any event.
        case timedOut
    }

    /// Runs the work on the global executor and reports once, from any thread.
    static func run(
        _ work: @escaping @Sendable () async -> Void,
        timeMax: Duration,
        completion: @escaping @Sendable (Outcome) -> Void
    ) {
        let once = Once(completion)
        let worker = Task {
            await work()
            once.report(.finished)
        }
        let timer = Task {
            guard (try? await Task.sleep(for: timeMax)) != nil else { return }
            worker.cancel()
            once.report(.timedOut)
        }
        once.onReport { timer.cancel() }
    }

    /// Lets the first of several reports through.
    private final class Once: Sendable {
        private struct State: Sendable {
            var completion: (@Sendable (Outcome) -> Void)?
            var cleanUp: (@Sendable () -> Void)?
        }

        private let state: Mutex<State>

        init(_ completion: @escaping @Sendable (Outcome) -> Void) {
            state = Mutex(State(completion: completion))
        }

        func report(_ outcome: Outcome) {
            let (completion, cleanUp) = state.withLock { state in
                defer { state = State() }
                return (state.completion, state.cleanUp)
            }
            completion?(outcome)
            cleanUp?()
        }

        /// Sets what is to be put away with the report, at once if it was made already.
        func onReport(_ cleanUp: @escaping @Sendable () -> Void) {
            let isReported = state.withLock { state in
                if state.completion != nil { state.cleanUp = cleanUp }
                return state.completion == nil
            }
            if isReported { cleanUp() }
        }
    }
}
