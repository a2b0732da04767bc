// Owns the eviction of sessions from memory.

import Logging
import RivuletEngine

extension SessionShard {
    /// The most sessions that are asked to leave memory in one turn of the event loop; sessions with `isHeld` are not
    /// counted.
    private static var askedPerTurnMax: Int { 64 }

    /// The most sessions that are examined in one turn of the event loop, asked or not.
    private static var seenPerTurnMax: Int { 4_096 }

    /// The bytes of asked sessions after which a turn asks no further session.
    ///
    /// Asking a watched session to leave writes its whole state as JSON and reads it back.
    private static var askedBytesPerTurnMax: Int { 4_194_304 }

    /// The most sessions that store a snapshot in one round before they leave memory; the others leave without one.
    private static var leavingCompactionsMax: Int { 1_024 }

    /// The most sessions put aside that one turn of the event loop moves back into the order.
    private static var recalledPerTurnMax: Int { 1_024 }

    /// The time for which a session that could not leave is not asked again; a refused client retries after the same
    /// time.
    private static var pause: Duration { .seconds(1) }

    /// The divisor of the limits that gives the room to make when memory is full.
    ///
    /// With less room, every further session would have to evict another one.
    private static var roomShare: Int { 16 }

    var isFull: Bool {
        residentCount >= environment.limits.residentSessionsMax || environment.memory.isFull
    }

    /// The approximate memory of the resident and passivated sessions, in bytes.
    package var residentBytes: Int { environment.memory.bytes }

    private var hasRoom: Bool {
        let (sessionsMax, bytesMax) = (environment.limits.residentSessionsMax, environment.limits.residentBytesMax)
        return residentCount <= sessionsMax - max(sessionsMax / Self.roomShare, 1)
            && residentBytes <= bytesMax - max(bytesMax / Self.roomShare, 1)
    }

    /// Evicts the sessions that were used longest ago until there is some room; work that exceeds one turn is done in
    /// later turns.
    func makeRoom() {
        if makeRoom(since: environment.uptime()) { wantRoom() }
    }

    /// Makes room in later turns, until there is enough or no session can leave.
    func wantRoom() {
        let now = environment.uptime()
        guard roomRound == nil, now >= roomPause else { return }
        roomRound = now
        postRoomTurn()
    }

    private func postRoomTurn() {
        // If the event loop has no room for the job, the next call for room begins a round.
        if !LoopBound(self, to: environment.executor).post({ $0.roomTurn() }) { roomRound = nil }
    }

    private func roomTurn() {
        guard let round = roomRound else { return }
        if makeRoom(since: round) { return postRoomTurn() }
        roomRound = nil
        if !hasRoom { roomPause = environment.uptime() + Self.pause }
    }

    /// Runs one turn of a round that began at `round`; a session that cannot leave is asked at most once in a round.
    ///
    /// - Returns: True if there is still too little room and more sessions may be able to leave.
    private func makeRoom(since round: Duration) -> Bool {
        guard !hasRoom else { return false }
        let now = environment.uptime()
        let hasRecalls = order.recall(at: round, atMost: Self.recalledPerTurnMax)
        let hasMore = askToLeave(usedUntil: now, isOver: { hasRoom }, compacts: false)
        // Passivated sessions are forgotten only if there is still too little room, because their streams may reconnect
        // and need their states.
        for _ in 0..<Self.askedPerTurnMax where !hasRoom {
            guard passivated.forgetOldest(unwatchedSince: now) else { return !hasRoom && (hasMore || hasRecalls) }
        }
        return !hasRoom
    }

    /// Evicts the sessions that have been idle for `time`, by default `idleTimeMax`, and passivates watched sessions.
    ///
    /// This takes several turns, between which the event loop does its other work.
    package func evict(idleFor time: Duration? = nil) {
        let isUnderWay = roundLimit != nil
        roundLimit = environment.uptime() - (time ?? environment.limits.idleTimeMax)
        // A call with a `time` needs memory at once, so its round stores no snapshots.
        compactionsLeft = time == nil ? Self.leavingCompactionsMax : 0
        recallsLeft = order.asideCount
        if !isUnderWay { evictTurn() }
        if isFull { wantRoom() }
    }

    private func evictTurn() {
        guard let limit = roundLimit else { return }
        let recalls = min(recallsLeft, Self.recalledPerTurnMax)
        recallsLeft -= recalls
        order.recall(at: nil, atMost: recalls)
        let hasMore = askToLeave(usedUntil: limit, isOver: { false }, compacts: true) || recallsLeft > 0
        var forgotten = 0
        while forgotten < Self.askedPerTurnMax, passivated.forgetOldest(unwatchedSince: limit) { forgotten += 1 }
        guard hasMore || forgotten == Self.askedPerTurnMax else {
            roundLimit = nil
            return
        }
        // If the event loop has no room for the job, the next call begins a round.
        if !LoopBound(self, to: environment.executor).post({ $0.evictTurn() }) { roundLimit = nil }
    }

    /// Adds a session that is now in memory to the eviction order.
    func recordEntry(_ session: Session) {
        order.add(session.key, lastUsed: session.lastUsed)
        if order.isCrowded(by: residentCount) { order.keep { resident($0) != nil } }
    }

    /// Evicts or passivates sessions, least recently used first, and puts aside the sessions that cannot leave memory.
    ///
    /// - Returns: True if more sessions may be able to leave.
    @discardableResult
    private func askToLeave(usedUntil limit: Duration, isOver: () -> Bool, compacts: Bool) -> Bool {
        var (asked, bytes, idle, watched) = (0, 0, 0, 0)
        defer { recordLeft(idle: idle, watched: watched) }
        for _ in 0..<Self.seenPerTurnMax {
            guard !isOver(), asked < Self.askedPerTurnMax, bytes < Self.askedBytesPerTurnMax else { return true }
            guard let entry = order.popFirst(usedUntil: limit) else { return false }
            guard let session = resident(entry.key) else { continue }
            guard session.lastUsed <= entry.lastUsed else {
                order.add(entry.key, lastUsed: session.lastUsed)
                continue
            }
            let isCompacting = compacts && compactionsLeft > 0 && session.compactBeforeLeaving()
            if !isCompacting, session.isHeld {
                // The check of `isHeld` is cheap and is not counted, so that later sessions are asked in the same turn.
                order.putAside(entry, until: environment.uptime() + Self.pause)
                continue
            }
            asked += 1
            bytes += session.memoryBytes
            if isCompacting {
                // The session leaves in the next round.
                compactionsLeft -= 1
            } else if let isWatched = putOut(session) {
                if isWatched { watched += 1 } else { idle += 1 }
                continue
            }
            order.putAside(entry, until: environment.uptime() + Self.pause)
        }
        return true
    }

    /// Returns the number of sessions that have left memory since the last call.
    package func takeEvictions() -> (idle: Int, watched: Int) {
        defer { evictions = (0, 0) }
        return evictions
    }

    private func recordLeft(idle: Int, watched: Int) {
        guard idle + watched > 0 else { return }
        evictions.idle += idle
        evictions.watched += watched
        environment.logger.debug(
            "sessions left memory",
            metadata: [
                "idle": "\(idle)", "watched": "\(watched)", "resident": "\(residentCount)",
                "passivated": "\(passivated.count)",
                "bytes": "\(residentBytes)",
            ]
        )
    }

    /// Evicts a session without work, or passivates it if it is watched.
    ///
    /// - Returns: True if the session was watched; nil if something holds it in memory.
    private func putOut(_ session: Session) -> Bool? {
        let isWatched = !session.isIdle
        if !isWatched {
            session.evict()
        } else if let rest = session.passivate() {
            passivated.add(rest, session.key)
        } else {
            return nil
        }
        forget(session.key)
        return isWatched
    }
}
