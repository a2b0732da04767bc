import RivuletEventLoop
import RivuletHTTP

/// The admitted requests of one loop whose bodies are not complete, by their connections.
///
/// A request whose body has arrived together with its head is never here.
struct BodiesUnderWay {
    /// One body: it holds what it has reserved for as long as it is here.
    struct Body {
        let route: Route
        let share: BodyBudget.Share
        /// Whether its length is not known: it reserves as it grows.
        let isChunked: Bool
        /// Tells apart what was granted to this wait from what was granted to an earlier one.
        fileprivate(set) var ticket = 0
        fileprivate(set) var waiter: BodyBudget.Waiter?
        fileprivate var reservations: [BodyBudget.Reservation] = []
        /// How many bytes had arrived at `lastProgress`.
        fileprivate var progressBytes = 0
        /// When the body made progress last, in milliseconds of the loop's clock.
        fileprivate var lastProgress: UInt64
        /// What was left of the body's time when reading was paused, in milliseconds; nil before the first byte of it was read.
        var pausedTime: UInt64?

        init(_ route: Route, _ framing: HTTPHead.Framing, now: UInt64) {
            self.route = route
            share = BodyBudget.Share(framing)
            isChunked = framing == .chunked
            lastProgress = now
        }

        fileprivate var reservedBytes: Int { reservations.reduce(0) { $0 + $1.bytes } }
    }

    private var bodies: [ConnectionID: Body] = [:]
    private var lastTicket = 0
    /// The shares of the bodies that could not even wait since stalled bodies were looked for last.
    private var refusedShares: Set<BodyBudget.Share> = []

    var isEmpty: Bool { bodies.isEmpty }
    var hasWaiters: Bool { bodies.values.contains { $0.waiter != nil } }

    subscript(id: ConnectionID) -> Body? { bodies[id] }

    /// Notes a request whose body is read as soon as there is room for it.
    mutating func begin(_ id: ConnectionID, _ body: Body) { bodies[id] = body }

    /// Forgets a body that is complete, refused, or whose connection has closed.
    ///
    /// - Returns: The body; nil when none was under way.
    mutating func end(_ id: ConnectionID) -> Body? {
        guard !bodies.isEmpty, let body = bodies.removeValue(forKey: id) else { return nil }
        body.waiter?.cancel()
        return body
    }

    /// Adds to what a body may hold.
    mutating func hold(_ id: ConnectionID, _ reservation: BodyBudget.Reservation) {
        bodies[id]?.reservations.append(reservation)
    }

    /// The number of the wait that a body begins now.
    mutating func makeTicket(_ id: ConnectionID) -> Int {
        lastTicket += 1
        bodies[id]?.ticket = lastTicket
        return lastTicket
    }

    /// Notes that a body waits, and what is left of its time once it is read on.
    mutating func wait(_ id: ConnectionID, _ waiter: BodyBudget.Waiter, pausedTime: UInt64?) {
        bodies[id]?.waiter = waiter
        bodies[id]?.pausedTime = pausedTime
    }

    /// Notes that a body of this share could not even wait.
    mutating func noteRefused(_ share: BodyBudget.Share) { refusedShares.insert(share) }

    /// The shares noted since the last call.
    mutating func takeRefusedShares() -> Set<BodyBudget.Share> {
        defer { refusedShares = [] }
        return refusedShares
    }

    /// Ends the wait of that number; nil when it is over already, and the reservation has no use.
    mutating func granted(
        _ id: ConnectionID,
        _ ticket: Int,
        _ reservation: BodyBudget.Reservation,
        now: UInt64
    ) -> Body? {
        guard bodies[id]?.ticket == ticket, bodies[id]?.waiter != nil else { return nil }
        bodies[id]?.waiter = nil
        bodies[id]?.reservations.append(reservation)
        bodies[id]?.lastProgress = now
        return bodies[id]
    }

    /// Notes how many bytes of a body have arrived.
    ///
    /// - Parameters:
    ///   - id: The connection of the body.
    ///   - count: All bytes of the body so far.
    ///   - bytesMax: The most bytes that the body may have.
    ///   - progressBytesMin: The bytes that are progress; fewer add up until they are as many.
    ///   - now: The time, in milliseconds of the loop's clock.
    /// - Returns: How many bytes it has to reserve before it is read on; 0 when it has enough.
    mutating func didReceive(
        _ id: ConnectionID,
        _ count: Int,
        bytesMax: Int,
        progressBytesMin: Int,
        now: UInt64
    ) -> Int {
        guard let body = bodies[id] else { return 0 }
        if count - body.progressBytes >= progressBytesMin {
            bodies[id]?.progressBytes = count
            bodies[id]?.lastProgress = now
        }
        guard body.isChunked else { return 0 }
        // One read has at most as much as a step.
        let missing = min(count + BodyBudget.chunkedStepBytes, bytesMax) - body.reservedBytes
        guard missing > 0 else { return 0 }
        let steps = (missing + BodyBudget.chunkedStepBytes - 1) / BodyBudget.chunkedStepBytes
        return min(steps * BodyBudget.chunkedStepBytes, bytesMax)
    }

    /// The bodies of a share that are being read and have made no progress since `time`, those longest without first.
    func stalled(_ share: BodyBudget.Share, since time: UInt64) -> [ConnectionID] {
        bodies.filter { $1.share == share && $1.waiter == nil && $1.lastProgress <= time }
            .sorted { $0.value.lastProgress < $1.value.lastProgress }
            .map(\.key)
    }
}
