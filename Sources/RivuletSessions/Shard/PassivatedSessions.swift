import HeapModule

/// The passivated sessions of a shard, including those that are being loaded again.
///
/// A session without streams is kept for the idle time if it has transient state. So a stream that reconnects after its
/// `bye` finds the state that it left.
struct PassivatedSessions {
    private var sessions: [SessionKey: PassivatedSession] = [:]
    /// The sessions without streams, by the times of their slots, the earliest first.
    ///
    /// Each session has at most one slot. The slot's time is the session's `unwatchedSince` when the slot was added. If
    /// the first slot is outdated, it is dropped or added again with a later time.
    private var unwatched: Heap<EvictionOrder.Entry> = []
    /// The sessions that have a slot in `unwatched`.
    private var placed: Set<SessionKey> = []
    /// The approximate memory of the sessions, in bytes.
    private(set) var bytes = 0

    var count: Int { sessions.count }

    /// Returns a passivated session; nil if there is none.
    subscript(key: SessionKey) -> PassivatedSession? { sessions[key] }

    mutating func add(_ session: PassivatedSession, _ key: SessionKey) {
        remove(key)
        sessions[key] = session
        bytes += session.memoryBytes
    }

    @discardableResult
    mutating func remove(_ key: SessionKey) -> PassivatedSession? {
        guard let session = sessions.removeValue(forKey: key) else { return nil }
        bytes -= session.memoryBytes
        return session
    }

    mutating func removeAll() -> [PassivatedSession] {
        defer { self = PassivatedSessions() }
        return Array(sessions.values)
    }

    /// Removes one stream of an event loop from a group.
    mutating func leave(_ key: SessionKey, group: GroupID, loop: Int, now: Duration) {
        guard var session = remove(key) else { return }
        session.leave(group, loop: loop)
        keep(session, key, now: now)
    }

    /// Removes all streams on these loops.
    mutating func dropLoops(now: Duration, _ isDropped: (_ loop: Int) -> Bool) {
        for (key, session) in sessions {
            var session = session
            if session.dropLoops(isDropped) {
                remove(key)
                keep(session, key, now: now)
            }
        }
    }

    /// Adds a session that some streams have left, if it is still needed.
    private mutating func keep(_ session: PassivatedSession, _ key: SessionKey, now: Duration) {
        guard session.isWatched || session.hasTransients else { return }
        add(session, key)
        if !session.isWatched { recordUse(key, now: now) }
    }

    /// Restarts the time for which a session without streams is kept.
    mutating func recordUse(_ key: SessionKey, now: Duration) {
        guard sessions[key]?.isWatched == false else { return }
        sessions[key]?.unwatchedSince = now
        entry(key, since: now)
    }

    private mutating func entry(_ key: SessionKey, since time: Duration) {
        guard placed.insert(key).inserted else { return }
        unwatched.insert(EvictionOrder.Entry(lastUsed: time, key: key))
    }

    /// Keeps a session until its load has ended.
    mutating func beginLoad(_ key: SessionKey) { sessions[key]?.isAwaited = true }

    /// Records that the load failed, and restarts the time for which the session is kept.
    mutating func loadDidFail(_ key: SessionKey, now: Duration) {
        sessions[key]?.isAwaited = false
        recordUse(key, now: now)
    }

    /// Removes the first slot if its time is `limit` or earlier, and the slot's session if the slot is not outdated.
    ///
    /// - Returns: False if there is no such slot.
    mutating func forgetOldest(unwatchedSince limit: Duration) -> Bool {
        guard let first = unwatched.min, first.lastUsed <= limit else { return false }
        unwatched.removeMin()
        placed.remove(first.key)
        guard let session = sessions[first.key], !session.isWatched, !session.isAwaited else { return true }
        if session.unwatchedSince > first.lastUsed {
            entry(first.key, since: session.unwatchedSince)
        } else {
            remove(first.key)
        }
        return true
    }
}
