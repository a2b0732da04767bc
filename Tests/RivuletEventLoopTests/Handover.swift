// Owns the handing of values from one thread to another, in tests.

import Dispatch
import Synchronization

/// Values handed from the loop's thread to the test's, in order; taking one waits for it, at most ten seconds.
final class Handover<Value: Sendable>: Sendable {
    struct TimedOut: Error {}

    private let values = Mutex<[Value]>([])
    private let isThere = DispatchSemaphore(value: 0)

    func put(_ value: Value) {
        values.withLock { $0.append(value) }
        isThere.signal()
    }

    func take() throws -> Value {
        guard isThere.wait(timeout: .now() + 10) == .success else { throw TimedOut() }
        return values.withLock { $0.removeFirst() }
    }

    /// What has been put and not been taken.
    var rest: [Value] { values.withLock { $0 } }
}
