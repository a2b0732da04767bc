import RivuletBase
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP

/// Reserves memory for the bodies that one loop reads, waits for it, and gives it back.
final class BodyDriver {
    /// How often bodies without progress are looked for while others wait.
    private static let stallInterval = Duration.milliseconds(250)

    private let core: LoopCore
    /// The requests whose bodies are being read.
    private var bodies = BodiesUnderWay()
    /// Whether bodies without progress are looked for soon.
    private var isWatchingStalls = false

    init(_ core: LoopCore) { self.core = core }

    private var context: ServerContext { core.context }
    private var now: UInt64 { core.loop.nowMilliseconds }

    var isEmpty: Bool { bodies.isEmpty }

    /// Whether a body is under way on this connection.
    func hasBody(_ id: ConnectionID) -> Bool { bodies[id] != nil }

    /// Whether a body waits for memory: its time is that of the wait.
    func isWaiting(_ id: ConnectionID) -> Bool { bodies[id]?.waiter != nil }

    /// Forgets the body of a connection, and gives back what it reserved.
    ///
    /// - Returns: The route of its request; nil when no body was under way.
    func end(_ id: ConnectionID) -> Route? { bodies.end(id)?.route }

    // MARK: - Reading

    /// Begins to read a body, or to wait for the memory that it takes.
    ///
    /// - Returns: The connection's next action.
    /// - Throws: 503 when too many bodies wait already.
    func begin(
        _ connection: ClientConnection,
        _ route: Route,
        _ framing: HTTPHead.Framing,
        by driver: ConnectionDriver
    ) throws(Problem) -> HTTPConnection.Action {
        let limits = context.httpLimits
        let body = BodiesUnderWay.Body(route, framing, now: now)
        let bytes =
            if case .length(let count) = framing {
                count
            } else {
                min(BodyBudget.chunkedStepBytes, limits.bodyBytesMax)
            }
        bodies.begin(connection.id, body)
        if let reservation = context.bodyBudget.reserve(bytes, body.share) {
            bodies.hold(connection.id, reservation)
            return connection.admitted(limits: limits)
        }
        let heldBytes = connection.heldBodyBytes
        guard wait(connection, for: bytes, body.share, holding: heldBytes, pausedTime: nil, by: driver) else {
            _ = bodies.end(connection.id)
            throw noRoom()
        }
        return .wait
    }

    /// Notes what has arrived of a body; one without a length reserves what comes next, or waits for it.
    func didGrow(_ connection: ClientConnection, by driver: ConnectionDriver) {
        let id = connection.id
        guard let body = bodies[id], body.waiter == nil else { return }
        let missing = bodies.didReceive(
            id,
            connection.heldBodyBytes,
            bytesMax: context.httpLimits.bodyBytesMax,
            progressBytesMin: context.options.limits.bodyProgressBytesMin,
            now: now
        )
        guard missing > 0 else { return }
        if let reservation = context.bodyBudget.reserve(missing, body.share) { return bodies.hold(id, reservation) }
        let pausedTime = connection.due > now ? connection.due - now : 1
        guard wait(connection, for: missing, body.share, holding: 0, pausedTime: pausedTime, by: driver) else {
            return giveUp(connection, by: driver)
        }
        connection.pauseBody(true)
        driver.settle(connection)
        watchWait(connection, by: driver)
    }

    private func wait(
        _ connection: ClientConnection,
        for bytes: Int,
        _ share: BodyBudget.Share,
        holding heldBytes: Int,
        pausedTime: UInt64?,
        by driver: ConnectionDriver
    ) -> Bool {
        let id = connection.id
        let ticket = bodies.makeTicket(id)
        let confined = Confined(driver, to: core.loop)
        let waiter = context.bodyBudget.wait(for: bytes, share, holding: heldBytes) { reservation in
            confined.post { $0.bodies.roomDidCome(for: id, ticket, reservation, by: $0) }
        }
        watchStalls()
        guard let waiter else {
            bodies.noteRefused(share)
            return false
        }
        bodies.wait(id, waiter, pausedTime: pausedTime)
        watchWait(connection, by: driver)
        return true
    }

    /// Bounds the wait of a body.
    private func watchWait(_ connection: ClientConnection, by driver: ConnectionDriver) {
        driver.limit(connection, until: now + context.options.limits.bodyWaitTimeMax.milliseconds)
    }

    private func roomDidCome(
        for id: ConnectionID,
        _ ticket: Int,
        _ reservation: BodyBudget.Reservation,
        by driver: ConnectionDriver
    ) {
        guard let body = bodies.granted(id, ticket, reservation, now: now), let connection = driver[id] else { return }
        guard let pausedTime = body.pausedTime else {
            connection.disarm()
            driver.take(connection.admitted(limits: context.httpLimits), on: connection)
            return didGrow(connection, by: driver)
        }
        connection.pauseBody(false)
        driver.settle(connection)
        driver.limit(connection, until: now + pausedTime)
    }

    /// Refuses a body for which there was no memory in time.
    func giveUp(_ connection: ClientConnection, by driver: ConnectionDriver) {
        guard bodies.end(connection.id) != nil else { return }
        connection.disarm()
        driver.refuseBody(of: connection, Response(noRoom()))
        driver.settle(connection)
    }

    private func noRoom() -> Problem {
        core.counters.requestRefused(.bodyRoom)
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
        core.loop.schedule(after: Self.stallInterval) { [self] in
            isWatchingStalls = false
            let refused = takeRefusedShares()
            guard bodies.hasWaiters || !refused.isEmpty else { return }
            for peer in core.peers { peer.post { $0.connections.shedStalledBodies(refused) } }
            watchStalls()
        }
    }

    /// The shares in which a body could not even wait, since this was taken last.
    func takeRefusedShares() -> Set<BodyBudget.Share> { bodies.takeRefusedShares() }

    /// Refuses bodies without progress, those longest without first, as long as others wait for their memory.
    ///
    /// `refused` are the shares in which a body could not even wait: there each loop closes one stalled body, waiters or not.
    func shedStalled(_ refused: Set<BodyBudget.Share>, by driver: ConnectionDriver) {
        let grace = context.options.limits.bodyProgressTimeMax.milliseconds
        let now = now
        guard now >= grace else { return }
        for share in BodyBudget.Share.allCases {
            var isRefused = refused.contains(share)
            guard isRefused || context.bodyBudget.hasWaiters(for: share) else { continue }
            for id in bodies.stalled(share, since: now - grace) {
                guard isRefused || context.bodyBudget.hasWaiters(for: share) else { break }
                isRefused = false
                core.counters.requestRefused(.bodyStalled)
                guard let connection = driver[id] else { continue }
                driver.take(connection.bodyStalled(stalledDetail), on: connection)
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
