import DequeModule
import HeapModule

/// The resident sessions of a shard, the one first that was used longest ago.
///
/// Nobody tells it of a session's use: what it knows is when it was used at the latest before it was taken down here. Whoever takes the
/// first looks whether it was used since, and adds it again then; so a use costs nothing, and the order is exact.
struct EvictionOrder {
    /// A session, and when it was last used, as far as is known.
    struct Place: Comparable {
        let lastUsed: Duration
        let key: SessionKey

        static func < (first: Place, second: Place) -> Bool { first.lastUsed < second.lastUsed }
    }

    private var places: Heap<Place> = []
    /// Sessions that could not leave, in the order in which they are asked again.
    private var aside: Deque<(place: Place, until: Duration)> = []

    /// How many places there may be for each resident session before those of sessions that are gone are dropped.
    private static let placesPerSessionMax = 2
    /// So many places are not worth a look.
    private static let placesMin = 256

    /// How many are put aside.
    var asideCount: Int { aside.count }

    /// Whether so many resident sessions are no reason for so many places.
    func isCrowded(by residents: Int) -> Bool {
        places.count + aside.count > Self.placesMin + Self.placesPerSessionMax * residents
    }

    mutating func add(_ key: SessionKey, lastUsed: Duration) {
        places.insert(Place(lastUsed: lastUsed, key: key))
    }

    /// Puts a session that cannot leave aside until some time; the times come in order.
    mutating func putAside(_ place: Place, until time: Duration) {
        aside.append((place, time))
    }

    /// Takes those back, at most so many, whose time has come; nil: whatever the time.
    ///
    /// - Returns: Whether there may be more of them.
    @discardableResult
    mutating func recall(at now: Duration?, atMost count: Int) -> Bool {
        for _ in 0..<count {
            guard let first = aside.first, now.map({ first.until <= $0 }) ?? true else { return false }
            aside.removeFirst()
            places.insert(first.place)
        }
        return true
    }

    /// Takes the first one away, if it was used at that time or earlier.
    mutating func popFirst(usedUntil limit: Duration) -> Place? {
        guard let first = places.min, first.lastUsed <= limit else { return nil }
        return places.removeMin()
    }

    /// Drops every place that does not satisfy.
    mutating func keep(where isWanted: (SessionKey) -> Bool) {
        var seen: Set<SessionKey> = []
        let kept = places.unordered.filter { isWanted($0.key) && seen.insert($0.key).inserted }
        places = Heap(kept)
        aside.removeAll { !isWanted($0.place.key) || !seen.insert($0.place.key).inserted }
    }
}
