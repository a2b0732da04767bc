import RivuletEventLoop
import Synchronization

/// Counts the streams of each client's address over all loops, if they are limited.
///
/// IPv6 addresses of one /64 network count together.
final class StreamAddresses: Sendable {
    /// The connection of a stream.
    struct Owner: Hashable, Sendable {
        let loop: Int
        let connection: ConnectionID
    }

    private struct Counts {
        var streams: [PeerAddress.IP: Int] = [:]
        /// The keys of the open streams, because a request's client is not kept elsewhere.
        var keys: [Owner: PeerAddress.IP] = [:]
    }

    /// The most streams of one address; nil if there is no limit, and nothing is counted.
    private let streamsMax: Int?
    private let counts = Mutex(Counts())

    init(streamsMax: Int?) { self.streamsMax = streamsMax }

    /// Counts one more stream of the client; returns false and counts nothing if its address has reached its limit.
    func enter(_ client: @autoclosure () -> ClientAddress, _ owner: @autoclosure () -> Owner) -> Bool {
        guard let streamsMax else { return true }
        let (key, owner) = (client().limitKey, owner())
        return counts.withLock { counts in
            let count = counts.streams[key, default: 0]
            guard count < streamsMax else { return false }
            counts.streams[key] = count + 1
            counts.keys[owner] = key
            return true
        }
    }

    /// Counts one stream less.
    func leave(_ owner: @autoclosure () -> Owner) {
        guard streamsMax != nil else { return }
        let owner = owner()
        counts.withLock { counts in
            guard let key = counts.keys.removeValue(forKey: owner), let count = counts.streams[key] else { return }
            counts.streams[key] = count > 1 ? count - 1 : nil
        }
    }
}
