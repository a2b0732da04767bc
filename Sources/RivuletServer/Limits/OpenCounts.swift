import Synchronization

/// The numbers of open things by their keys, over all loops.
///
/// Its memory is limited by the number of open things.
final class OpenCounts: Sendable {
    private let counts = Mutex<[LimitKey: Int]>([:])

    /// Counts one more; returns false and counts nothing if the key has reached the maximum.
    ///
    /// Nil sets no limit, but counts.
    func enter(_ key: LimitKey, max: Int?) -> Bool {
        counts.withLock { counts in
            let count = counts[key, default: 0]
            guard max.map({ count < $0 }) ?? true else { return false }
            counts[key] = count + 1
            return true
        }
    }

    /// Counts one less.
    func leave(_ key: LimitKey) {
        counts.withLock { counts in
            guard let count = counts[key] else { return }
            counts[key] = count > 1 ? count - 1 : nil
        }
    }

    /// The number of keys with open things.
    var keyCount: Int { counts.withLock { $0.count } }
}

/// A stream's place in the counts of its caller and of its address; its end frees the place.
final class StreamSeat: Sendable {
    private let counts: OpenCounts
    private let keys: [LimitKey]

    /// Takes a place; nil if one of the keys has as many streams as it may.
    init?(in counts: OpenCounts, _ keys: [LimitKey], max: Int) {
        self.counts = counts
        var taken: [LimitKey] = []
        for key in keys {
            guard counts.enter(key, max: max) else {
                for key in taken { counts.leave(key) }
                self.keys = []
                return nil
            }
            taken.append(key)
        }
        self.keys = taken
    }

    deinit {
        for key in keys { counts.leave(key) }
    }
}
