// Part of Rivulet. See README.md for the architecture.
// Owns the sessions of a shard that left memory while they were watched.

import DequeModule

/// What is kept of watched sessions that are not in memory, also while they are loaded again.
///
/// One that nobody watches any more is kept for the time that an idle session has, when it has transient state: a stream that
/// comes back after its bye finds the state that it left.
struct ParkedSessions {
    private var sessions: [SessionKey: ParkedSession] = [:]
    /// Those that nobody watches, in the order in which their last streams left; an entry that is no longer true is passed over.
    private var unwatched: Deque<(key: SessionKey, since: Duration)> = []
    /// What they take of memory, roughly.
    private(set) var bytes = 0

    var count: Int { sessions.count }

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
        unwatched.append((key, now))
    }

    /// Forgets one session that nobody watched since then, the one that was left first; false: there is none.
    mutating func forgetOldest(unwatchedSince limit: Duration) -> Bool {
        guard let (key, since) = unwatched.first, since <= limit else { return false }
        unwatched.removeFirst()
        if let session = sessions[key], !session.isWatched, session.unwatchedSince == since { remove(key) }
        return true
    }
}
