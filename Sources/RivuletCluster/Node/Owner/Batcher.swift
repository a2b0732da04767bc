import DequeModule
import RivuletSessions

/// An operation that waits to be written, with its reply.
struct PendingOperation {
    let operation: Operation
    let byteCount: Int
    let reply: StorageReply<OperationOutcome>
}

/// The writing of the owner's frames: one at a time, each resolved before the next.
///
/// All operations that wait when a frame was answered make the next frame, so no timer delays them. A frame with an
/// unknown outcome is followed by empty frames with the same expectation, until the log answers one of them.
struct Batcher {
    /// A frame that was sent to the log, or that will be sent again.
    struct Flight {
        /// The present attempt.
        var frame: Frame
        var bytes: [UInt8]
        /// The place behind which the frame is written.
        let after: LogPosition
        /// The operations that are answered when the frame is applied.
        var operations: [PendingOperation]
        /// The frame's content, to be sent again.
        var content: FrameContent
        /// True if the frame with the operations may be in the log.
        var isUnknown = false
        /// The nonce of the frame with the operations.
        var nonce: UInt64
        /// The number of empty frames, which have the nonces after `nonce`.
        var probes: UInt64 = 0
        let since: Int64
    }

    enum State {
        /// No frame is under way.
        case idle
        /// The log has not answered yet.
        case publishing(Flight)
        /// The frame, or an empty one, is sent at this time.
        case waiting(Flight, until: Int64)
        /// The log is read, to learn which message is there.
        case reading(Flight)
    }

    /// The result of an answer of the log.
    enum Answer {
        case nothing
        /// The frame is in the log at this place; its operations are answered when it is applied.
        case committed(PositionedFrame, [PendingOperation])
        /// The log has to be read behind the tip, and has messages up to this place.
        case read(upTo: LogPosition)
        /// The operations were certainly not written.
        case refused([PendingOperation], StorageError)
        /// The log cannot be used.
        case broken(String)
    }

    private let limits: ClusterNodeLimits
    private let splitter: FrameSplitter
    /// True if an unknown outcome counts as a refusal.
    private let fault: NodeFault?
    private var queue: Deque<PendingOperation> = []
    private var queuedBytes = 0
    /// The rest of an operation in parts, which the next frames carry.
    private var rest: Deque<FrameContent> = []
    private(set) var state = State.idle
    /// A number that differs for each message to the log, so that late answers are told apart.
    private(set) var attempt = 0

    init(_ limits: ClusterNodeLimits, cluster: String, fault: NodeFault?) {
        (self.limits, self.fault) = (limits, fault)
        splitter = FrameSplitter(frameBytesMax: limits.frameBytesMax, cluster: cluster)
    }

    /// The error for an operation that does not fit in the queue; nil if it fits.
    var refusal: StorageError? {
        guard queue.count < limits.queuedOperationsMax, queuedBytes < limits.queuedBytesMax else {
            return .unavailable(
                detail: "\(queue.count) writes (\(queuedBytes) bytes) wait for the cluster's log: try again later"
            )
        }
        return nil
    }

    var isIdle: Bool { if case .idle = state { true } else { false } }
    var isPublishing: Bool { if case .publishing = state { true } else { false } }
    /// True if nothing waits and nothing is under way.
    var isEmpty: Bool { isIdle && queue.isEmpty && rest.isEmpty }
    var hasWork: Bool { !queue.isEmpty || !rest.isEmpty }
    /// True between two frames of one operation.
    var isWithinOperation: Bool { !rest.isEmpty }
    var wake: Int64? { if case .waiting(_, let until) = state { until } else { nil } }
    /// The time since which the present frame is under way.
    var since: Int64? {
        switch state {
        case .idle: nil
        case .publishing(let flight), .waiting(let flight, _), .reading(let flight): flight.since
        }
    }

    mutating func enqueue(_ pending: PendingOperation) {
        queue.append(pending)
        queuedBytes += pending.byteCount
    }

    /// Makes the next frame, with operations of the node itself before those that wait, and returns its bytes.
    mutating func begin(
        after tip: ChainTip,
        first own: [Operation] = [],
        nonce: UInt64,
        _ coder: FrameCoder,
        at now: Int64
    ) -> (bytes: [UInt8], after: LogPosition)? {
        guard isIdle else { return nil }
        let (content, operations) = own.isEmpty || !rest.isEmpty ? nextContent() : (FrameContent(operations: own), [])
        guard let content else { return nil }
        let frame = Frame(
            cluster: tip.cluster,
            partition: tip.partition,
            previous: tip.link,
            term: tip.link.term,
            nonce: nonce,
            operations: content.operations,
            part: content.part
        )
        let flight = Flight(
            frame: frame,
            bytes: coder.encode(frame),
            after: tip.position,
            operations: operations,
            content: content,
            nonce: nonce,
            since: now
        )
        return publish(flight)
    }

    /// Takes the content of the next frame, with the operations that it completes.
    private mutating func nextContent() -> (FrameContent?, [PendingOperation]) {
        if let part = rest.popFirst() {
            return (part, rest.isEmpty ? take(1) : [])
        }
        var (count, bytes) = (0, 0)
        for pending in queue {
            bytes += pending.byteCount + FrameCodec.lengthBytes
            guard bytes <= splitter.contentBytesMax, count < limits.frameOperationsMax else { break }
            count += 1
        }
        if count == 0, let large = queue.first {
            // The operation stays in the queue until its last part is taken.
            rest = Deque(splitter.contents(of: [large.operation]))
            return nextContent()
        }
        guard count > 0 else { return (nil, []) }
        let operations = take(count)
        return (FrameContent(operations: operations.map(\.operation)), operations)
    }

    private mutating func take(_ count: Int) -> [PendingOperation] {
        let taken = Array(queue.prefix(count))
        queue.removeFirst(taken.count)
        for pending in taken { queuedBytes -= pending.byteCount }
        return taken
    }

    private mutating func publish(_ flight: Flight) -> (bytes: [UInt8], after: LogPosition) {
        attempt += 1
        state = .publishing(flight)
        return (flight.bytes, flight.after)
    }

    /// Sends the frame again, or an empty one, when its time has come.
    mutating func retry(
        nonce: UInt64,
        _ coder: FrameCoder,
        at now: Int64
    ) -> (bytes: [UInt8], after: LogPosition)? {
        guard case .waiting(var flight, let until) = state, now >= until else { return nil }
        if flight.isUnknown {
            (flight.frame.operations, flight.frame.part) = ([], nil)
            flight.probes += 1
            flight.frame.nonce = flight.nonce &+ flight.probes
        } else {
            (flight.frame.operations, flight.frame.part) = (flight.content.operations, flight.content.part)
            flight.frame.nonce = nonce
            flight.nonce = nonce
        }
        flight.bytes = coder.encode(flight.frame)
        return publish(flight)
    }

    /// Takes the answer of the log to an attempt; `delay` is the time to the next one.
    mutating func answered(
        _ outcome: LogAppendOutcome,
        attempt: Int,
        _ coder: FrameCoder,
        at now: Int64,
        delay: Int64
    ) -> Answer {
        guard attempt == self.attempt, case .publishing(var flight) = state else { return .nothing }
        switch outcome {
        case .committed(let position):
            let frame = PositionedFrame(position: position, frame: flight.frame, hash: coder.hash(flight.bytes))
            guard flight.isUnknown else {
                state = .idle
                return .committed(frame, flight.operations)
            }
            // The empty frame has the place of the earlier one, which is not and never will be there.
            takeBack(flight)
            return .committed(frame, [])
        case .moved(let last):
            state = .reading(flight)
            return .read(upTo: last)
        case .unknown:
            if fault == .takesUnknownAsRefused { return refuse(flight, .unavailable(detail: "unknown")) }
            flight.isUnknown = true
            state = .waiting(flight, until: now + delay)
            return .nothing
        case .refused(let error):
            return refused(flight, error, at: now, delay: delay)
        }
    }

    private mutating func refused(_ flight: Flight, _ error: LogError, at now: Int64, delay: Int64) -> Answer {
        switch error {
        case .unavailable:
            state = .waiting(flight, until: now + delay)
        case .full(let detail):
            // An unknown frame is resolved also in a full log, because a frame of no bytes may fit later.
            guard flight.isUnknown else { return refuse(flight, .full(detail: detail)) }
            state = .waiting(flight, until: now + delay)
        case .tooLarge(let limitBytes):
            guard flight.isUnknown else { return refuse(flight, .tooLarge(limitBytes: limitBytes)) }
            state = .waiting(flight, until: now + delay)
        case .incompatible(let detail), .lost(let detail):
            state = .waiting(flight, until: .max)
            return .broken(detail)
        }
        return .nothing
    }

    /// Gives a frame up that is certainly not in the log.
    private mutating func refuse(_ flight: Flight, _ error: StorageError) -> Answer {
        state = .idle
        return .refused(flight.operations + voidParts(), error)
    }

    /// Drops the parts of an operation that is not written to its end, and returns it.
    private mutating func voidParts() -> [PendingOperation] {
        guard !rest.isEmpty else { return [] }
        rest = []
        return take(1)
    }

    /// Puts the operations of a frame back, to be written in the next one.
    private mutating func takeBack(_ flight: Flight) {
        if flight.content.part != nil {
            rest.prepend(flight.content)
        }
        for pending in flight.operations.reversed() {
            queue.prepend(pending)
            queuedBytes += pending.byteCount
        }
        state = .idle
    }

    /// Compares the first message behind the expectation with the frame under way, and so decides its outcome.
    mutating func didRead(_ positioned: PositionedFrame) -> Answer {
        let flight: Flight
        switch state {
        case .reading(let present), .waiting(let present, _): flight = present
        case .idle, .publishing: return .nothing
        }
        if positioned.frame.nonce == flight.nonce {
            state = .idle
            return .committed(positioned, flight.operations)
        }
        let probe = positioned.frame.nonce &- flight.nonce
        if probe >= 1, probe <= flight.probes {
            takeBack(flight)
            return .committed(positioned, [])
        }
        return refuse(flight, .unavailable(detail: "another node has taken the partition: try again"))
    }

    /// Sends the frame again, after the log said that it has moved but has no further message.
    mutating func readNothing(at now: Int64, delay: Int64) {
        guard case .reading(let flight) = state else { return }
        state = .waiting(flight, until: now + delay)
    }

    /// Gives up everything that is certainly not in the log, when no attempt was answered for this long.
    mutating func expire(before time: Int64) -> [PendingOperation] {
        guard case .waiting(let flight, _) = state, !flight.isUnknown, flight.since < time else { return [] }
        state = .idle
        return flight.operations + dropQueue()
    }

    /// Gives up the operations that were never sent.
    mutating func dropQueue() -> [PendingOperation] {
        // An operation in parts is still undecided while one of its parts is under way.
        let parts = rest.isEmpty ? [] : take(1)
        rest = []
        return parts + take(queue.count)
    }

    /// Gives up the frame under way; its operations may be in the log.
    mutating func abandon() -> (operations: [PendingOperation], mayBeWritten: Bool) {
        defer { state = .idle }
        switch state {
        case .idle: return ([], false)
        case .publishing(let flight): return (flight.operations, true)
        case .reading(let flight), .waiting(let flight, _): return (flight.operations, flight.isUnknown)
        }
    }
}
