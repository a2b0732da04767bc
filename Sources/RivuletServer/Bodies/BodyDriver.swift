import RivuletBase
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP

/// The next step of a connection with a body.
enum BodyStep {
    /// The body is read.
    case read
    /// The body is read once there is memory for it, until this time of the loop's clock.
    case wait(until: UInt64)
    /// The same for a body of which a part has been read.
    case pause(until: UInt64)
    /// The rest of a paused body is read, until this time of the loop's clock.
    case resume(until: UInt64)
    /// The request is refused, and the rest of its body is not read.
    case refuse(Problem)
}

/// Reserves memory for the bodies that one loop reads, waits for it, and gives it back.
///
/// It knows connections by their ids only: `ConnectionDriver` carries its steps out.
final class BodyDriver {
    /// How often bodies without progress are looked for while others wait.
    private static let stallInterval = Duration.milliseconds(250)

    private let core: LoopCore
    /// The requests whose bodies are being read.
    private var bodies = BodiesUnderWay()
    /// Whether bodies without progress are looked for soon.
    private var isWatchingStalls = false
    /// Called when a body that waited may be read.
    private var onRoom: (ConnectionID, BodyStep) -> Void = { _, _ in }

    init(_ core: LoopCore) { self.core = core }

    /// Says what carries out the step of a body that waited; once, before the first connection.
    func attach(_ onRoom: @escaping (ConnectionID, BodyStep) -> Void) { self.onRoom = onRoom }

    private var context: ServerContext { core.context }
    private var now: UInt64 { core.loop.nowMilliseconds }

    var isEmpty: Bool { bodies.isEmpty }

    /// Whether a body waits for memory: its time is that of the wait.
    func isWaiting(_ id: ConnectionID) -> Bool { bodies[id]?.waiter != nil }

    /// Forgets the body of a connection, and gives back what it reserved.
    ///
    /// - Returns: The route of its request; nil when no body was under way.
    func end(_ id: ConnectionID) -> Route? { bodies.end(id)?.route }

    // MARK: - Reading

    /// Begins to read a body, or to wait for the memory that it takes.
    ///
    /// - Parameters:
    ///   - id: The connection of the body.
    ///   - route: The route of its request.
    ///   - framing: The framing that its head names.
    ///   - heldBytes: The bytes of it that came with its head.
    /// - Returns: `read`, or `wait`.
    /// - Throws: 503 when too many bodies wait already.
    func begin(
        _ id: ConnectionID,
        _ route: Route,
        _ framing: HTTPHead.Framing,
        heldBytes: Int
    ) throws(Problem) -> BodyStep {
        let body = BodiesUnderWay.Body(route, framing, now: now)
        let bytes =
            if case .length(let count) = framing {
                count
            } else {
                min(BodyBudget.chunkedStepBytes, context.httpLimits.bodyBytesMax)
            }
        bodies.begin(id, body)
        if let reservation = context.bodyBudget.reserve(bytes, body.share) {
            bodies.hold(id, reservation)
            return .read
        }
        guard wait(id, for: bytes, body.share, holding: heldBytes, pausedTime: nil) else {
            _ = bodies.end(id)
            throw noRoom()
        }
        return .wait(until: waitDue)
    }

    /// Notes what has arrived of a body; one without a length reserves what comes next, or waits for it.
    ///
    /// - Parameters:
    ///   - id: The connection of the body.
    ///   - heldBytes: All bytes of the body so far.
    ///   - due: When the body's time is over, in milliseconds of the loop's clock.
    /// - Returns: The connection's next step; nil when the body is read on.
    func didGrow(_ id: ConnectionID, heldBytes: Int, due: UInt64) -> BodyStep? {
        guard let body = bodies[id], body.waiter == nil else { return nil }
        let missing = bodies.didReceive(
            id,
            heldBytes,
            bytesMax: context.httpLimits.bodyBytesMax,
            progressBytesMin: context.options.limits.bodyProgressBytesMin,
            now: now
        )
        guard missing > 0 else { return nil }
        if let reservation = context.bodyBudget.reserve(missing, body.share) {
            bodies.hold(id, reservation)
            return nil
        }
        let pausedTime = due > now ? due - now : 1
        guard wait(id, for: missing, body.share, holding: 0, pausedTime: pausedTime) else { return giveUp(id) }
        return .pause(until: waitDue)
    }

    /// Waits for memory; false when too many bodies wait already.
    private func wait(
        _ id: ConnectionID,
        for bytes: Int,
        _ share: BodyBudget.Share,
        holding heldBytes: Int,
        pausedTime: UInt64?
    ) -> Bool {
        let ticket = bodies.makeTicket(id)
        let confined = Confined(self, to: core.loop)
        let waiter = context.bodyBudget.wait(for: bytes, share, holding: heldBytes) { reservation in
            confined.post { $0.roomDidCome(for: id, ticket, reservation) }
        }
        watchStalls()
        guard let waiter else {
            bodies.noteRefused(share)
            return false
        }
        bodies.wait(id, waiter, pausedTime: pausedTime)
        return true
    }

    /// When a wait that begins now is over.
    private var waitDue: UInt64 { now + context.options.limits.bodyWaitTimeMax.milliseconds }

    private func roomDidCome(for id: ConnectionID, _ ticket: Int, _ reservation: BodyBudget.Reservation) {
        guard let body = bodies.granted(id, ticket, reservation, now: now) else { return }
        onRoom(id, body.pausedTime.map { .resume(until: now + $0) } ?? .read)
    }

    /// Refuses a body that waited too long for memory.
    ///
    /// It returns nil if the connection has no body.
    func giveUp(_ id: ConnectionID) -> BodyStep? { bodies.end(id).map { _ in .refuse(noRoom()) } }

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

    /// Finds bodies without progress, those longest without first, as long as others wait for their memory.
    ///
    /// `refused` are the shares in which a body could not even wait: there each loop closes one stalled body, waiters or not.
    /// `close` ends the request of a body at once, with this detail.
    func shedStalled(_ refused: Set<BodyBudget.Share>, _ close: (_ id: ConnectionID, _ detail: String) -> Void) {
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
                close(id, stalledDetail)
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
