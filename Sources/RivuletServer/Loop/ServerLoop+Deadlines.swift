// Owns the times that bound connections, and the regular word to quiet streams: one timer wheel for all of them.

import RivuletEventLoop
import RivuletHTTP
import RivuletSessions

extension ServerLoop {
    /// The most connections that are looked at in one turn because of their times.
    private static var deadlinesPerTurnMax: Int { 256 }

    /// Looks at a connection again when its deadline has passed.
    ///
    /// A connection has one place in the wheel. A later deadline leaves it there: when it comes up too early, it is put where it belongs.
    func watch(_ id: ConnectionID, until due: UInt64) {
        let before = connections.update(id) { ($0.timer, $0.timerDue) }
        guard let (timer, timerDue) = before else { return }
        if let timer {
            guard due < timerDue else { return }
            deadlines.cancel(timer)
        }
        let new = deadlines.schedule(at: due, id)
        _ = connections.update(id) { entry in
            entry.timer = new
            entry.timerDue = due
        }
        wake(at: due)
    }

    /// Looks at a stream again when it has been quiet for so long, or its life is over.
    func watchStream(_ id: ConnectionID) {
        guard let due = streamDue(id) else { return }
        watch(id, until: due)
    }

    private func streamDue(_ id: ConnectionID) -> UInt64? {
        guard let stream = streams[id] else { return nil }
        return min(stream.facts.expires, lastTraffic(of: stream) + heartbeatMilliseconds)
    }

    private func lastTraffic(of stream: StreamTable.Stream) -> UInt64 {
        stream.outside == nil ? max(stream.lastWrite, stream.group.lastTraffic) : stream.lastWrite
    }

    /// The wheel is late by up to 1/31 of a time, which the interval is not to be.
    private var heartbeatMilliseconds: UInt64 {
        let interval = context.options.limits.heartbeatInterval.milliseconds
        return max(interval - interval / 32 - 1, 1)
    }

    private func wake(at due: UInt64) {
        guard due < deadlineWake else { return }
        deadlineWake = due
        let now = loop.nowMilliseconds
        // What is due is done before the loop sleeps: this only ends the sleep.
        loop.schedule(after: .milliseconds(due > now ? Int64(clamping: due - now) : 0)) {}
    }

    /// Does what is due, as much as a turn allows; true when there is more.
    func runDeadlines() -> Bool {
        let now = loop.nowMilliseconds
        guard deadlineWake <= now else { return false }
        deadlines.advance(to: now)
        var budget = Self.deadlinesPerTurnMax
        while budget > 0, let id = deadlines.popDue() {
            budget -= 1
            deadlineDidPass(id, now: now)
        }
        guard budget > 0 else { return true }
        deadlineWake = .max
        if let next = deadlines.nextWake() { wake(at: next) }
        return false
    }

    private func deadlineDidPass(_ id: ConnectionID, now: UInt64) {
        let entry = connections.update(id) { entry in
            entry.timer = nil
            return (due: entry.due, isCongested: entry.isCongested)
        }
        guard let entry else { return }
        if let due = streamDue(id) { return streamDeadlineDidPass(id, due: due, now: now) }
        guard entry.due != 0 else { return }
        guard entry.due <= now else { return watch(id, until: entry.due) }
        if entry.isCongested { return closeUnlessMoving(id, now: now) }
        if isBodyWaiting(id) { return giveUp(id) }
        let limits = context.httpLimits
        guard let action = connections.update(id, { $0.http.deadlinePassed(limits: limits) }) else { return }
        take(action, on: id)
    }

    /// A comment for a quiet stream, `bye` for one whose time is over.
    private func streamDeadlineDidPass(_ id: ConnectionID, due: UInt64, now: UInt64) {
        guard due <= now else { return watch(id, until: due) }
        guard let stream = streams[id], stream.facts.expires > now else { return closeStream(id, because: .expired) }
        // For those who have not taken all something waits already: they are not quiet.
        guard wire.unsentBytes(id) == 0 else {
            streams.noteWrite(id, of: nil, now: now)
            return watchStream(id)
        }
        let heartbeat = context.heartbeat
        let isCompressed = stream.facts.isCompressed
        let bytes = heartbeat.bytes(isCompressed: isCompressed, isChunked: stream.facts.isChunked)
        let outcome = wire.write(id, bytes)
        counters.heartbeats(1, bytes: bytes.count)
        streams.noteWrite(id, of: isCompressed ? heartbeat.tally : nil, now: now)
        _ = streams.update(id) { $0.didWrite(outcome) }
        watchStream(id)
    }

    /// Closes a connection that has taken nothing of its answer for so long.
    private func closeUnlessMoving(_ id: ConnectionID, now: UInt64) {
        let unsentBytes = wire.unsentBytes(id)
        let due = now + context.options.limits.idleTimeMax.milliseconds
        let isMoving = connections.update(id) { entry in
            defer { entry.unsentBytes = unsentBytes }
            guard unsentBytes < entry.unsentBytes else { return false }
            entry.due = due
            return true
        }
        if isMoving == false { return wire.close(id, .timedOut) }
        watch(id, until: due)
    }
}
