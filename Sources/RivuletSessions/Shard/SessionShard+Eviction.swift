// Owns which sessions leave memory, and when.

import Logging
import RivuletEngine

extension SessionShard {
    /// The most sessions that are asked to leave in one turn of the loop, those not counted that are known to be held.
    private static var askedPerTurnMax: Int { 64 }

    /// The most sessions that are looked at in one turn of the loop, whether they are asked or not.
    private static var seenPerTurnMax: Int { 4_096 }

    /// The most bytes of sessions that are asked in one turn, but for a single larger one: what is watched is read and written whole.
    private static var askedBytesPerTurnMax: Int { 4_194_304 }

    /// The most sessions that store a snapshot in one round because they are about to leave memory; the others leave without.
    private static var leavingCompactionsMax: Int { 1_024 }

    /// The most sessions that were put aside and have their turn again in one turn of the loop.
    private static var recalledPerTurnMax: Int { 1_024 }

    /// How long a session that could not leave is not asked again; a client that is refused comes back after as long.
    private static var pause: Duration { .seconds(1) }

    /// A full memory is emptied by this part, so that not each further session has to put another one out.
    private static var roomShare: Int { 16 }

    var isFull: Bool {
        residentCount >= environment.limits.residentSessionsMax || environment.memory.isFull
    }

    /// What the sessions take of memory, roughly, and what is kept of those that are aside for their streams.
    package var residentBytes: Int { environment.memory.bytes }

    private var hasRoom: Bool {
        let (sessionsMax, bytesMax) = (environment.limits.residentSessionsMax, environment.limits.residentBytesMax)
        return residentCount <= sessionsMax - max(sessionsMax / Self.roomShare, 1)
            && residentBytes <= bytesMax - max(bytesMax / Self.roomShare, 1)
    }

    /// Puts out the sessions that were used longest ago until there is some room, as far as one turn goes; the rest in later turns.
    func makeRoom() {
        if makeRoom(since: environment.uptime()) { wantRoom() }
    }

    /// Has room made in turns to come, until there is some or nobody can leave.
    func wantRoom() {
        let now = environment.uptime()
        guard roomRound == nil, now >= roomPause else { return }
        roomRound = now
        postRoomTurn()
    }

    private func postRoomTurn() {
        // Where there is no room for a turn, whoever wants room next begins a round.
        if !Confined(self, to: environment.executor).post({ $0.roomTurn() }) { roomRound = nil }
    }

    private func roomTurn() {
        guard let round = roomRound else { return }
        if makeRoom(since: round) { return postRoomTurn() }
        roomRound = nil
        if !hasRoom { roomPause = environment.uptime() + Self.pause }
    }

    /// One turn of a round that began at that time; nobody who cannot leave is asked twice in it.
    ///
    /// - Returns: Whether room is still wanting and there may be more that can leave.
    private func makeRoom(since round: Duration) -> Bool {
        guard !hasRoom else { return false }
        let now = environment.uptime()
        let hasRecalls = order.recall(at: round, atMost: Self.recalledPerTurnMax)
        let hasMore = askToLeave(usedUntil: now, isOver: { hasRoom }, compacts: false)
        // Its streams come back to what a parked session holds: that goes when nobody else can.
        for _ in 0..<Self.askedPerTurnMax where !hasRoom {
            guard parked.forgetOldest(unwatchedSince: now) else { return !hasRoom && (hasMore || hasRecalls) }
        }
        return !hasRoom
    }

    /// Puts out the sessions that have been idle for so long, the streams of those that are watched aside; in turns, between which
    /// the loop does its other work.
    package func evict(idleFor time: Duration? = nil) {
        let isUnderWay = roundLimit != nil
        roundLimit = environment.uptime() - (time ?? environment.limits.idleTimeMax)
        // Not when memory is wanted at once.
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
        while forgotten < Self.askedPerTurnMax, parked.forgetOldest(unwatchedSince: limit) { forgotten += 1 }
        guard hasMore || forgotten == Self.askedPerTurnMax else {
            roundLimit = nil
            return
        }
        // Where there is no room for a turn, the next call begins a round.
        if !Confined(self, to: environment.executor).post({ $0.evictTurn() }) { roundLimit = nil }
    }

    /// Takes down a session that came to memory.
    func noteEntry(_ session: Session) {
        order.add(session.key, lastUsed: session.lastUsed)
        if order.isCrowded(by: residentCount) { order.keep { resident($0) != nil } }
    }

    /// Asks sessions to leave, the one first that was used longest ago, and puts those aside that cannot.
    ///
    /// - Returns: Whether there may be more of them.
    @discardableResult
    private func askToLeave(usedUntil limit: Duration, isOver: () -> Bool, compacts: Bool) -> Bool {
        var (asked, bytes, idle, watched) = (0, 0, 0, 0)
        defer { noteLeft(idle: idle, watched: watched) }
        for _ in 0..<Self.seenPerTurnMax {
            guard !isOver(), asked < Self.askedPerTurnMax, bytes < Self.askedBytesPerTurnMax else { return true }
            guard let place = order.popFirst(usedUntil: limit) else { return false }
            guard let session = resident(place.key) else { continue }
            guard session.lastUsed <= place.lastUsed else {
                order.add(place.key, lastUsed: session.lastUsed)
                continue
            }
            let isCompacting = compacts && compactionsLeft > 0 && session.compactBeforeLeaving()
            if !isCompacting, session.isHeld {
                // That cost nothing: those behind it must not wait for it.
                order.putAside(place, until: environment.uptime() + Self.pause)
                continue
            }
            asked += 1
            bytes += session.memoryBytes
            if isCompacting {
                // It leaves in the next round.
                compactionsLeft -= 1
            } else if let isWatched = putOut(session) {
                if isWatched { watched += 1 } else { idle += 1 }
                continue
            }
            order.putAside(place, until: environment.uptime() + Self.pause)
        }
        return true
    }

    /// How many sessions have left memory since this was asked last.
    package func takeEvictions() -> (idle: Int, watched: Int) {
        defer { evictions = (0, 0) }
        return evictions
    }

    private func noteLeft(idle: Int, watched: Int) {
        guard idle + watched > 0 else { return }
        evictions.idle += idle
        evictions.watched += watched
        environment.logger.debug(
            "sessions left memory",
            metadata: [
                "idle": "\(idle)", "watched": "\(watched)", "resident": "\(residentCount)", "parked": "\(parked.count)",
                "bytes": "\(residentBytes)",
            ]
        )
    }

    /// Takes a session without work out of memory.
    ///
    /// - Returns: Whether it was watched; nil when something holds it there.
    private func putOut(_ session: Session) -> Bool? {
        let isWatched = !session.isIdle
        if !isWatched {
            session.evict()
        } else if let rest = session.passivate() {
            parked.add(rest, session.key)
        } else {
            return nil
        }
        forget(session.key)
        return isWatched
    }
}
