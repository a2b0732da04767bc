import RivuletBase
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP

/// The next step of a connection with a body.
enum BodyStep {
    /// The body is read.
    case read
    /// The body waits for memory, at most until this time of the loop's clock.
    case wait(until: UInt64)
    /// As `wait`, for a body of which a part has been read.
    case pause(until: UInt64)
    /// The rest of a paused body is read; all of it must arrive before this time of the loop's clock.
    case resume(until: UInt64)
    /// The request is refused, and the rest of its body is not read.
    case refuse(Problem)
}

/// Reserves memory for the bodies that one loop reads, waits for this memory, and returns it.
///
/// The driver knows connections by their ids only. `ConnectionDriver` carries out its steps.
final class BodyDriver {
    /// The interval of the search for bodies without progress while others wait.
    private static let stallInterval = Duration.milliseconds(250)

    private let core: LoopCore
    /// The requests with bodies that are being read.
    private var bodies = BodiesUnderWay()
    /// True if a search for bodies without progress is scheduled.
    private var isWatchingStalls = false
    /// Called when a body that waited may be read.
    private var onRoom: (ConnectionID, BodyStep) -> Void = { _, _ in }

    init(_ core: LoopCore) { self.core = core }

    /// Sets the closure that carries out the step of a body that waited; call it once, before the first connection.
    func attach(_ onRoom: @escaping (ConnectionID, BodyStep) -> Void) { self.onRoom = onRoom }

    private var context: ServerContext { core.context }
    private var now: UInt64 { core.loop.nowMilliseconds }

    var isEmpty: Bool { bodies.isEmpty }

    /// True if a body waits for memory; the time limit of the wait then applies to it.
    func isWaiting(_ id: ConnectionID) -> Bool { bodies[id]?.waiter != nil }

    /// Removes the body of a connection, and gives its reserved memory back to the budget.
    ///
    /// - Returns: Its request; nil if no body was under way.
    func end(_ id: ConnectionID) -> AdmittedRequest? { bodies.end(id)?.request }

    // MARK: - Reading

    /// Begins to read a body, or to wait for the memory that it takes.
    ///
    /// - Parameters:
    ///   - id: The connection of the body.
    ///   - request: Its request.
    ///   - framing: The framing that its head names.
    ///   - heldBytes: The number of bytes of the body that came with its head.
    /// - Returns: `read`, or `wait`.
    /// - Throws: 503 when too many bodies wait already.
    func begin(
        _ id: ConnectionID,
        _ request: AdmittedRequest,
        _ framing: HTTPHead.Framing,
        heldBytes: Int
    ) throws(Problem) -> BodyStep {
        let body = BodiesUnderWay.Body(request, framing, now: now)
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

    /// Records the bytes of a body that have arrived.
    ///
    /// A body without a declared length then reserves memory for its next bytes, or waits for that memory.
    ///
    /// - Parameters:
    ///   - id: The connection of the body.
    ///   - heldBytes: All bytes of the body so far.
    ///   - due: The end of the body's time, in milliseconds of the loop's clock.
    /// - Returns: The connection's next step; nil if reading continues.
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
        let loopBound = LoopBound(self, to: core.loop)
        let waiter = context.bodyBudget.wait(for: bytes, share, holding: heldBytes) { reservation in
            loopBound.postReply { $0.roomDidCome(for: id, ticket, reservation) }
        }
        watchStalls()
        guard let waiter else {
            bodies.recordRefused(share)
            return false
        }
        bodies.wait(id, waiter, pausedTime: pausedTime)
        return true
    }

    /// The end of a wait that begins now.
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

    /// Searches all loops for bodies without progress while a body of this loop waits, and once after a body was
    /// refused a wait.
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

    /// The shares in which a body was refused a wait since the last call.
    func takeRefusedShares() -> Set<BodyBudget.Share> { bodies.takeRefusedShares() }

    /// Closes bodies without progress, the longest stalled first, while others wait for their memory.
    ///
    /// `refused` are the shares in which a body was refused a wait. In each of these shares, every loop closes one
    /// stalled body, even if no body waits. `close` ends the request of a body at once, with this detail.
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
