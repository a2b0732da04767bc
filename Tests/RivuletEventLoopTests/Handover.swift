// Owns the passing of values from one thread to another in tests.

import Dispatch
import Synchronization

/// Values passed from the loop's thread to the test's, in order.
///
/// Taking a value waits for it, at most ten seconds.
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

    /// The values that were put and not taken.
    var rest: [Value] { values.withLock { $0 } }
}
