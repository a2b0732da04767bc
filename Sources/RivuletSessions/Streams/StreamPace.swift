/// The pace of one group: at most one change in an interval.
///
/// A pure value: it is told what happens and when, and says what is to be done.
struct StreamPace {
    /// A stream that has got what there was when it came, and is joined when the group is told the rest.
    struct Waiting {
        let stream: StreamID
        /// Where it stands.
        let position: Cursor.Position
        /// When it may get a change; it has just got one.
        let earliest: Duration
    }

    let interval: Duration
    /// When the group was told something.
    private var lastSent: Duration?
    /// Where its members stand while there is something that they were not told.
    private(set) var pending: Cursor.Position?
    /// In the order in which they came.
    private(set) var waiting: [Waiting] = []
    /// When the timer is to fire that is under way.
    private var tick: Duration?

    init(interval: Duration) {
        self.interval = interval
    }

    /// Says that something changed that members see, who stood at `position` before; true: they are told at once.
    mutating func note(at now: Duration, from position: Cursor.Position) -> Bool {
        guard pending == nil else { return false }
        guard let lastSent, now - lastSent < interval else {
            lastSent = now
            return true
        }
        pending = position
        return false
    }

    /// Says that a stream comes that stands at `position` and has got a change, or a snapshot only; true: it is a member at once.
    mutating func join(_ stream: StreamID, at now: Duration, position: Cursor.Position, hasGotChange: Bool) -> Bool {
        guard pending != nil else {
            if hasGotChange { lastSent = now }
            return true
        }
        waiting.append(Waiting(stream: stream, position: position, earliest: hasGotChange ? now + interval : now))
        return false
    }

    /// How long until the timer that is needed and not under way; nil: there is none.
    mutating func nextTick(at now: Duration) -> Duration? {
        guard tick == nil else { return nil }
        let free = lastSent.map { $0 + interval } ?? now
        let due: Duration
        if pending != nil {
            due = free
        } else if let earliest = waiting.map(\.earliest).min() {
            due = max(free, earliest)
        } else {
            return nil
        }
        tick = max(due, now)
        return max(due - now, .zero)
    }

    /// Says that the timer has fired.
    mutating func tickDidFire() {
        tick = nil
    }

    /// Takes where the members stand who are to be told now; nil: there is nothing to tell them, or it is too early.
    mutating func takePending(at now: Duration) -> Cursor.Position? {
        guard isDue(at: now) else { return nil }
        defer { pending = nil }
        return pending
    }

    /// Takes the streams that become members now.
    mutating func takeWaiting(at now: Duration) -> [Waiting] {
        guard isDue(at: now), pending == nil else { return [] }
        defer { waiting.removeAll { $0.earliest <= now } }
        return waiting.filter { $0.earliest <= now }
    }

    /// Takes all of them, because the session ends its streams.
    mutating func takeAllWaiting() -> [Waiting] {
        defer { waiting = [] }
        return waiting
    }

    /// Says that members were told something.
    mutating func didSend(at now: Duration) {
        lastSent = now
    }

    private func isDue(at now: Duration) -> Bool {
        lastSent.map { now - $0 >= interval } ?? true
    }
}
