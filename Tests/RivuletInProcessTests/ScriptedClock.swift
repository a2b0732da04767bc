// Owns a clock for tests that never wait.

import Synchronization

/// A clock with short sleeps that end at once.
///
/// A sleep of more than `passing` ends only by cancellation.
final class ScriptedClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Duration.zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
    }

    private let longest: Duration
    private let state = Mutex((now: Instant(), slept: [Duration]()))

    init(passing longest: Duration = .zero) {
        self.longest = longest
    }

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    /// The durations of the sleeps that ended.
    var slept: [Duration] { state.withLock { $0.slept } }

    func advance(by duration: Duration) {
        state.withLock { $0.now = $0.now.advanced(by: duration) }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        guard now.duration(to: deadline) <= longest else {
            for await _ in AsyncStream(Never.self, { _ in }) {}
            throw CancellationError()
        }
        try Task.checkCancellation()
        state.withLock { state in
            state.slept.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
        }
    }
}
