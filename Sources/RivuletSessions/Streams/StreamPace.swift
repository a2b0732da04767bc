/// The pace of one group: at most one change in an interval.
///
/// A machine: it takes inputs with their times, and returns the next action.
struct StreamPace {
    /// A stream that has all changes up to its own position, and joins the group when the group is sent its pending
    /// changes.
    struct Waiting {
        let stream: StreamID
        /// The position of the stream.
        let position: Cursor.Position
        /// The earliest time for the stream's next change.
        ///
        /// If the stream was sent a change when it came, this is one interval after it came. If not, it is the time at
        /// which the stream came.
        let earliest: Duration
    }

    let interval: Duration
    /// The time at which the group was last sent an event.
    private var lastSent: Duration?
    /// The position of the members if later changes wait to be sent to them; nil if no changes wait.
    private(set) var pending: Cursor.Position?
    /// The waiting streams in the order in which they came.
    private(set) var waiting: [Waiting] = []
    /// The time at which the timer that is under way fires.
    private var tick: Duration?

    init(interval: Duration) {
        self.interval = interval
    }

    /// Records a change that members see; true if it is sent to them at once.
    ///
    /// `position` is the position of the members before the change.
    mutating func record(at now: Duration, from position: Cursor.Position) -> Bool {
        guard pending == nil else { return false }
        guard let lastSent, now - lastSent < interval else {
            lastSent = now
            return true
        }
        pending = position
        return false
    }

    /// Adds a stream at `position`; true if it is a member at once.
    ///
    /// `hasGotChange` is true if the stream has just been sent a change, and false if it was sent a snapshot only.
    mutating func join(_ stream: StreamID, at now: Duration, position: Cursor.Position, hasGotChange: Bool) -> Bool {
        guard pending != nil else {
            if hasGotChange { lastSent = now }
            return true
        }
        waiting.append(Waiting(stream: stream, position: position, earliest: hasGotChange ? now + interval : now))
        return false
    }

    /// Returns the delay of the next timer; nil if none is needed, or if a timer is under way.
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

    /// Records that the timer has fired.
    mutating func tickDidFire() {
        tick = nil
    }

    /// Takes the position of members that are due now; nil if no changes wait for them, or it is too early.
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

    /// Takes all waiting streams, because the session ends its streams.
    mutating func takeAllWaiting() -> [Waiting] {
        defer { waiting = [] }
        return waiting
    }

    /// Records that members were sent an event.
    mutating func didSend(at now: Duration) {
        lastSent = now
    }

    private func isDue(at now: Duration) -> Bool {
        lastSent.map { now - $0 >= interval } ?? true
    }
}
