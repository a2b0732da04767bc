import RivuletEventLoop
import Synchronization

/// Counts the streams of each source address over all loops, if they are limited.
final class StreamAddresses: Sendable {
    /// The most streams of one address; nil if there is no limit, and nothing is counted.
    private let streamsMax: Int?
    private let counts = Mutex<[PeerAddress.IP: Int]>([:])

    init(streamsMax: Int?) { self.streamsMax = streamsMax }

    /// Counts one more stream of the address; returns false and counts nothing if the address has reached its limit.
    func enter(_ address: PeerAddress.IP) -> Bool {
        guard let streamsMax else { return true }
        return counts.withLock { counts in
            let count = counts[address, default: 0]
            guard count < streamsMax else { return false }
            counts[address] = count + 1
            return true
        }
    }

    /// Counts one stream less.
    func leave(_ address: PeerAddress.IP) {
        guard streamsMax != nil else { return }
        counts.withLock { counts in
            guard let count = counts[address] else { return }
            counts[address] = count > 1 ? count - 1 : nil
        }
    }
}
