/// The last good key set of a URL, and the times of its fetches, in milliseconds since 1970.
///
/// A value without I/O: ``RemoteKeySets`` fetches.
struct RemoteKeySet: Sendable {
    /// The time from one fetch to the next; each is longer or shorter by at most a tenth.
    static let interval: Int64 = 900_000
    /// The bounds of the random factor of ``interval``, so that many servers do not fetch at the same time.
    static let jitter = 0.9...1.1
    /// The shortest time between two fetches because of an unknown key.
    static let urgentInterval: Int64 = 60_000
    /// The longest time that a set is used without another good fetch: a day.
    static let keptTimeMax: Int64 = 86_400_000

    /// The last good document; nil if the last fetch is too long ago.
    private(set) var document: [UInt8]?
    private var fetched: Int64
    /// The time of the last attempt.
    private var attempted: Int64
    private var next: Int64
    private var urgent: Int64?

    /// Begins with a good document; `factor` is in ``jitter``.
    init(_ document: [UInt8], at now: Int64, factor: Double) {
        self.document = document
        (fetched, attempted) = (now, now)
        next = now + Self.delay(factor)
    }

    /// Returns true if the caller must fetch now; `isUrgent` is true after a token with an unknown key.
    mutating func mustFetch(at now: Int64, isUrgent: Bool) -> Bool {
        // The wall clock may have been set back.
        let isDue = now >= next || now < attempted
        let mayHurry = urgent.map { now >= $0 + Self.urgentInterval || now < $0 } ?? true
        guard isDue || isUrgent && mayHurry else { return false }
        if isUrgent { urgent = now }
        attempted = now
        return true
    }

    /// Records a good fetch; returns true if the document is another one than before.
    mutating func succeed(_ document: [UInt8], at now: Int64, factor: Double) -> Bool {
        (fetched, next) = (now, now + Self.delay(factor))
        guard self.document != document else { return false }
        self.document = document
        return true
    }

    /// Records a failed fetch; returns true if the document is too old from now on.
    mutating func fail(at now: Int64, factor: Double) -> Bool {
        next = now + Self.delay(factor)
        guard document != nil, now - fetched >= Self.keptTimeMax else { return false }
        document = nil
        return true
    }

    private static func delay(_ factor: Double) -> Int64 { Int64(Double(interval) * factor) }
}
