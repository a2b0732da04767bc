import RivuletEventLoop
import RivuletHTTP

/// The admitted requests of one loop with incomplete bodies, by their connections.
///
/// A request whose complete body arrived together with its head is never in this table.
struct BodiesUnderWay {
    /// One body, which keeps its reservations while it is in the table.
    struct Body {
        let request: AdmittedRequest
        let share: BodyBudget.Share
        /// True if its length is not known; it then reserves memory as it grows.
        let isChunked: Bool
        /// The number of the body's last wait; a grant for an earlier wait has another number.
        fileprivate(set) var ticket = 0
        fileprivate(set) var waiter: BodyBudget.Waiter?
        fileprivate var reservations: [BodyBudget.Reservation] = []
        /// The number of bytes that had arrived at `lastProgress`.
        fileprivate var progressBytes = 0
        /// The time of the last progress, in milliseconds of the loop's clock.
        fileprivate var lastProgress: UInt64
        /// The body's remaining time when reading was paused, in milliseconds; nil if none of the body was read yet.
        var pausedTime: UInt64?

        init(_ request: AdmittedRequest, _ framing: HTTPHead.Framing, now: UInt64) {
            self.request = request
            share = BodyBudget.Share(framing)
            isChunked = framing == .chunked
            lastProgress = now
        }

        fileprivate var reservedBytes: Int { reservations.reduce(0) { $0 + $1.bytes } }
    }

    private var bodies: [ConnectionID: Body] = [:]
    private var lastTicket = 0
    /// The shares of the bodies that were refused a wait since the last search for stalled bodies.
    private var refusedShares: Set<BodyBudget.Share> = []

    var isEmpty: Bool { bodies.isEmpty }
    var hasWaiters: Bool { bodies.values.contains { $0.waiter != nil } }

    subscript(id: ConnectionID) -> Body? { bodies[id] }

    /// Adds a request; its body is read as soon as there is room for it.
    mutating func begin(_ id: ConnectionID, _ body: Body) { bodies[id] = body }

    /// Removes a body that is complete or refused, or has lost its connection.
    ///
    /// - Returns: The body; nil if none was under way.
    mutating func end(_ id: ConnectionID) -> Body? {
        guard !bodies.isEmpty, let body = bodies.removeValue(forKey: id) else { return nil }
        body.waiter?.cancel()
        return body
    }

    /// Adds a reservation to those of a body.
    mutating func hold(_ id: ConnectionID, _ reservation: BodyBudget.Reservation) {
        bodies[id]?.reservations.append(reservation)
    }

    /// Returns the number of the wait that a body begins now.
    mutating func makeTicket(_ id: ConnectionID) -> Int {
        lastTicket += 1
        bodies[id]?.ticket = lastTicket
        return lastTicket
    }

    /// Records that a body waits, and the time that it will have left when its reading continues.
    mutating func wait(_ id: ConnectionID, _ waiter: BodyBudget.Waiter, pausedTime: UInt64?) {
        bodies[id]?.waiter = waiter
        bodies[id]?.pausedTime = pausedTime
    }

    /// Records that a body of this share was refused a wait.
    mutating func recordRefused(_ share: BodyBudget.Share) { refusedShares.insert(share) }

    /// The shares recorded since the last call.
    mutating func takeRefusedShares() -> Set<BodyBudget.Share> {
        defer { refusedShares = [] }
        return refusedShares
    }

    /// Ends the wait with this number and returns the body; nil if that wait has already ended.
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

    /// Records the number of bytes of a body that have arrived.
    ///
    /// - Parameters:
    ///   - id: The connection of the body.
    ///   - count: All bytes of the body so far.
    ///   - bytesMax: The most bytes that the body may have.
    ///   - progressBytesMin: The number of bytes that counts as progress. Fewer bytes add up until they reach it.
    ///   - now: The time, in milliseconds of the loop's clock.
    /// - Returns: The number of bytes to reserve before the body is read further; 0 if it has enough.
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
        // One read returns at most as many bytes as one step.
        let missing = min(count + BodyBudget.chunkedStepBytes, bytesMax) - body.reservedBytes
        guard missing > 0 else { return 0 }
        let steps = (missing + BodyBudget.chunkedStepBytes - 1) / BodyBudget.chunkedStepBytes
        return min(steps * BodyBudget.chunkedStepBytes, bytesMax)
    }

    /// The bodies of a share that are being read and have made no progress since `time`, the longest stalled first.
    func stalled(_ share: BodyBudget.Share, since time: UInt64) -> [ConnectionID] {
        bodies.filter { $1.share == share && $1.waiter == nil && $1.lastProgress <= time }
            .sorted { $0.value.lastProgress < $1.value.lastProgress }
            .map(\.key)
    }
}
