import HeapModule

/// What is kept of watched sessions that are not in memory, also while they are loaded again.
///
/// One that nobody watches any more is kept for the time that an idle session has, when it has transient state: a stream that
/// comes back after its bye finds the state that it left.
struct ParkedSessions {
    private var sessions: [SessionKey: ParkedSession] = [:]
    /// Those that nobody watches, the one first that was left first; each at most once, and with the time at which it was taken down.
    ///
    /// A place that is no longer true is passed over, or taken down anew, when it is the first.
    private var unwatched: Heap<EvictionOrder.Place> = []
    /// The sessions that have a place there.
    private var placed: Set<SessionKey> = []
    /// What they take of memory, roughly.
    private(set) var bytes = 0

    var count: Int { sessions.count }

    /// What is kept of a session; nil: nothing.
    subscript(key: SessionKey) -> ParkedSession? { sessions[key] }

    mutating func add(_ session: ParkedSession, _ key: SessionKey) {
        remove(key)
        sessions[key] = session
        bytes += session.memoryBytes
    }

    @discardableResult
    mutating func remove(_ key: SessionKey) -> ParkedSession? {
        guard let session = sessions.removeValue(forKey: key) else { return nil }
        bytes -= session.memoryBytes
        return session
    }

    mutating func removeAll() -> [ParkedSession] {
        defer { self = ParkedSessions() }
        return Array(sessions.values)
    }

    /// Takes back one membership of that loop.
    mutating func leave(_ key: SessionKey, group: GroupID, loop: Int, now: Duration) {
        guard var session = remove(key) else { return }
        session.leave(group, loop: loop)
        guard session.isWatched || session.hasTransients else { return }
        add(session, key)
        if !session.isWatched { noteUse(key, now: now) }
    }

    /// Begins the time anew that a session without streams is kept.
    mutating func noteUse(_ key: SessionKey, now: Duration) {
        guard sessions[key]?.isWatched == false else { return }
        sessions[key]?.unwatchedSince = now
        place(key, since: now)
    }

    private mutating func place(_ key: SessionKey, since time: Duration) {
        guard placed.insert(key).inserted else { return }
        unwatched.insert(EvictionOrder.Place(lastUsed: time, key: key))
    }

    /// Keeps what the session that is being loaded takes back.
    mutating func beginLoad(_ key: SessionKey) { sessions[key]?.isAwaited = true }

    /// Says that it was not loaded.
    mutating func loadDidFail(_ key: SessionKey, now: Duration) {
        sessions[key]?.isAwaited = false
        noteUse(key, now: now)
    }

    /// Forgets one session that nobody watched since then, the one that was left first, or passes over a place; false: there is none.
    mutating func forgetOldest(unwatchedSince limit: Duration) -> Bool {
        guard let first = unwatched.min, first.lastUsed <= limit else { return false }
        unwatched.removeMin()
        placed.remove(first.key)
        guard let session = sessions[first.key], !session.isWatched, !session.isAwaited else { return true }
        if session.unwatchedSince > first.lastUsed {
            place(first.key, since: session.unwatchedSince)
        } else {
            remove(first.key)
        }
        return true
    }
}
