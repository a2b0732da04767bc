import Dispatch
import Synchronization

/// An answer that is given once and waited for once.
package final class BlockingPromise<Answer: Sendable>: Sendable {
    private let answer = Mutex<Answer?>(nil)
    private let isGiven = DispatchSemaphore(value: 0)

    /// Makes a promise without an answer.
    package init() {}

    /// Gives the answer.
    package func give(_ answer: Answer) {
        self.answer.withLock { $0 = answer }
        isGiven.signal()
    }

    /// Blocks until the answer is given.
    package func take() -> Answer {
        while true {
            isGiven.wait()
            if let answer = answer.withLock({ $0 }) { return answer }
        }
    }
}
