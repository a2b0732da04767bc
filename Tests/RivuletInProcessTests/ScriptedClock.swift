// Owns a clock on which nobody waits: time stands still, or is over at once.

import Synchronization

/// A clock whose sleeps end at once, in the order of the calls, or, when they are longer than it passes, only by cancellation.
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

    /// How long the sleeps were that ended.
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
