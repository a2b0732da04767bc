// Owns how a loop reserves memory for the bodies that it reads, waits for it, and gives it back.

import RivuletEngine
import RivuletEventLoop
import RivuletHTTP

extension ServerLoop {
    /// How often bodies without progress are looked for while others wait.
    private static var stallInterval: Duration { .milliseconds(250) }

    /// Begins to read a body, or to wait for the memory that it takes.
    ///
    /// - Returns: The connection's next action.
    /// - Throws: 503 when too many bodies wait already.
    func beginBody(
        _ id: ConnectionID,
        _ route: Route,
        _ framing: HTTPHead.Framing
    ) throws(Problem) -> HTTPConnection.Action {
        let limits = context.httpLimits
        let body = BodiesUnderWay.Body(route, framing, now: loop.nowMilliseconds)
        let bytes =
            if case .length(let count) = framing {
                count
            } else {
                min(BodyBudget.chunkedStepBytes, limits.bodyBytesMax)
            }
        if let reservation = context.bodyBudget.reserve(bytes, body.share) {
            bodies.begin(id, body)
            bodies.hold(id, reservation)
            return connections.update(id) { $0.http.admitted(limits: limits) } ?? .wait
        }
        bodies.begin(id, body)
        let heldBytes = connections.update(id) { $0.http.heldBodyBytes } ?? 0
        guard wait(id, for: bytes, body.share, holding: heldBytes, pausedTime: nil) else {
            _ = bodies.end(id)
            throw noRoom()
        }
        return .wait
    }

    /// Notes what has arrived of a body; one without a length reserves what comes next, or waits for it.
    func bodyDidGrow(_ id: ConnectionID) {
        guard let body = bodies[id], body.waiter == nil else { return }
        let count = connections.update(id) { $0.http.heldBodyBytes } ?? 0
        let missing = bodies.didReceive(
            id,
            count,
            bytesMax: context.httpLimits.bodyBytesMax,
            progressBytesMin: context.options.limits.bodyProgressBytesMin,
            now: loop.nowMilliseconds
        )
        guard missing > 0 else { return }
        if let reservation = context.bodyBudget.reserve(missing, body.share) { return bodies.hold(id, reservation) }
        let now = loop.nowMilliseconds
        let due = connections.update(id) { $0.due } ?? 0
        guard wait(id, for: missing, body.share, holding: 0, pausedTime: due > now ? due - now : 1) else {
            return giveUp(id)
        }
        _ = connections.update(id) { $0.http.isBodyPaused = true }
        settle(id)
        watchWait(id)
    }

    private func wait(
        _ id: ConnectionID,
        for bytes: Int,
        _ share: BodyBudget.Share,
        holding heldBytes: Int,
        pausedTime: UInt64?
    ) -> Bool {
        let ticket = bodies.makeTicket(id)
        let confined = Confined(self, to: loop)
        let waiter = context.bodyBudget.wait(for: bytes, share, holding: heldBytes) { reservation in
            confined.post { $0.roomDidCome(for: id, ticket, reservation) }
        }
        watchStalls()
        guard let waiter else {
            bodies.noteRefused(share)
            return false
        }
        bodies.wait(id, waiter, pausedTime: pausedTime)
        watchWait(id)
        return true
    }

    /// Bounds the wait of a body.
    private func watchWait(_ id: ConnectionID) {
        let due = loop.nowMilliseconds + context.options.limits.bodyWaitTimeMax.milliseconds
        _ = connections.update(id) { $0.due = due }
        watch(id, until: due)
    }

    private func roomDidCome(for id: ConnectionID, _ ticket: Int, _ reservation: BodyBudget.Reservation) {
        let now = loop.nowMilliseconds
        guard let body = bodies.granted(id, ticket, reservation, now: now) else { return }
        let limits = context.httpLimits
        guard let pausedTime = body.pausedTime else {
            let action = connections.update(id) { entry in
                entry.due = 0
                return entry.http.admitted(limits: limits)
            }
            take(action ?? .wait, on: id)
            return bodyDidGrow(id)
        }
        _ = connections.update(id) { $0.http.isBodyPaused = false }
        settle(id)
        _ = connections.update(id) { $0.due = now + pausedTime }
        watch(id, until: now + pausedTime)
    }

    /// Whether a body waits for memory: its time is that of the wait.
    func isBodyWaiting(_ id: ConnectionID) -> Bool { bodies[id]?.waiter != nil }

    /// Refuses a body for which there was no memory in time.
    func giveUp(_ id: ConnectionID) {
        guard bodies.end(id) != nil else { return }
        _ = connections.update(id) { entry in
            entry.due = 0
            entry.armed = nil
        }
        refuseBody(of: id, Response(noRoom()))
        settle(id)
    }

    private func noRoom() -> Problem {
        counters.requestRefused(.bodyRoom)
        let seconds = max(context.options.limits.bodyWaitTimeMax.milliseconds / 1_000, 1)
        return Problem(
            .overloaded,
            "The server holds as many bytes of bodies as it may (heldBodyBytesMax). Nothing has changed. Send the request again later.",
            fields: [HTTPField("Retry-After", "\(seconds)")]
        )
    }

    // MARK: - Bodies without progress

    /// Looks for bodies without progress, on all loops, while a body of this loop waits, and once after one could not even wait.
    private func watchStalls() {
        guard !isWatchingStalls else { return }
        isWatchingStalls = true
        loop.schedule(after: Self.stallInterval) { [self] in
            isWatchingStalls = false
            let refused = bodies.takeRefusedShares()
            guard bodies.hasWaiters || !refused.isEmpty else { return }
            for peer in peers { peer.post { $0.shedStalledBodies(refused) } }
            watchStalls()
        }
    }

    /// Refuses bodies without progress, those longest without first, as long as others wait for their memory.
    ///
    /// `refused` are the shares in which a body could not even wait: there each loop closes one stalled body, waiters or not.
    func shedStalledBodies(_ refused: Set<BodyBudget.Share> = []) {
        let grace = context.options.limits.bodyProgressTimeMax.milliseconds
        let now = loop.nowMilliseconds
        guard now >= grace else { return }
        for share in BodyBudget.Share.allCases {
            var isRefused = refused.contains(share)
            guard isRefused || context.bodyBudget.hasWaiters(for: share) else { continue }
            for id in bodies.stalled(share, since: now - grace) {
                guard isRefused || context.bodyBudget.hasWaiters(for: share) else { break }
                isRefused = false
                counters.requestRefused(.bodyStalled)
                let detail = stalledDetail
                guard let action = connections.update(id, { $0.http.bodyStalled(detail) }) else { continue }
                take(action, on: id)
            }
        }
    }

    private var stalledDetail: String {
        let limits = context.options.limits
        return "Fewer than \(limits.bodyProgressBytesMin) bytes of the body (bodyProgressBytesMin) arrived within "
            + "\(limits.bodyProgressTimeMax) (bodyProgressTimeMax) while other bodies waited for room. Nothing has changed. "
            + "Send the request again, its body without a pause."
    }
}
