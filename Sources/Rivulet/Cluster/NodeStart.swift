import Dispatch
import RivuletServer
import Synchronization

/// The first result of a node's start, for which the process waits before it takes requests.
final class NodeStart: Sendable {
    enum Result: Hashable, Sendable {
        /// The node may join as soon as the server has begun.
        case checked
        /// NATS cannot be reached now; the node goes on trying.
        case unreachable
        /// The node must not start, for this reason, which names the remedy.
        case refused(String)
    }

    private let result = Mutex<Result?>(nil)
    private let isSet = DispatchSemaphore(value: 0)

    /// Sets the first result; false if there is one already.
    @discardableResult
    func set(_ result: Result) -> Bool {
        let isFirst = self.result.withLock { present in
            guard present == nil else { return false }
            present = result
            return true
        }
        if isFirst { isSet.signal() }
        return isFirst
    }

    /// Waits for the first result; the node goes on trying if none comes in time.
    func wait(seconds: Int) -> Result {
        if isSet.wait(timeout: .now() + .seconds(seconds)) == .timedOut { set(.unreachable) }
        return result.withLock { $0 } ?? .unreachable
    }
}
