/// The reading of the log: where it ends, the messages behind the tip, and the base if they are not there any more.
struct LogFollower {
    enum Request: Hashable {
        case position
        case ends
        case read(after: LogPosition)
        case base
    }

    private enum Phase: Hashable {
        /// The replica's position is not known yet.
        case unpositioned
        /// The log's ends have to be compared with the tip.
        case comparing
        case reading
        /// The log begins behind the tip.
        case loading
    }

    /// A result of messages that were read.
    enum Reading {
        /// The log has no message behind the tip.
        case end
        /// The messages behind the tip, up to a gap.
        case frames([(frame: PositionedFrame, byteCount: Int)])
    }

    private(set) var tip: ChainTip
    var applies: ApplyQueue
    private var assembler = FrameAssembler()
    private var phase = Phase.unpositioned
    private var isBusy = false
    private var next = Int64.min
    /// The last place at which a message is known to be.
    private var seen = LogPosition.start
    /// `seen` as it was when the present read began.
    private var seenBefore = LogPosition.start
    /// The number of reads so far.
    private(set) var reads = 0
    /// The number of the last read that found the end of the log.
    private(set) var endRead = 0
    private(set) var failures = 0
    /// True if the log ended before the tip once; it may have been an old answer.
    private var wasBehind = false
    /// True if the next read has to find the message of the tip, too.
    private var mustVerify = false
    /// The tip that the present read has to find.
    private var verified: (position: LogPosition, hash: FrameHash)?
    private let coder: FrameCoder
    private let fault: NodeFault?

    init(_ options: ClusterNodeOptions, _ surroundings: ClusterNodeSurroundings) {
        tip = ChainTip(cluster: options.cluster, partition: .first, at: .start)
        applies = ApplyQueue(options.limits)
        (coder, fault) = (surroundings.coder, surroundings.fault)
    }

    /// The last place at which a message is known to be.
    var head: LogPosition { max(seen, tip.position) }
    /// True if the log was read to its end once, and no message behind the tip is known.
    var isCaughtUp: Bool { phase == .reading && endRead > 0 && seen <= tip.position }
    var isLoading: Bool { phase == .loading }

    mutating func due(at now: Int64) -> Request? {
        guard !isBusy, now >= next else { return nil }
        switch phase {
        case .unpositioned:
            isBusy = true
            return .position
        case .comparing:
            isBusy = true
            return .ends
        case .reading:
            guard !applies.isFull else { return nil }
            isBusy = true
            reads += 1
            seenBefore = seen
            verified = nil
            guard mustVerify, tip.position > .start else { return .read(after: tip.position) }
            (mustVerify, verified) = (false, (tip.position, tip.link.hash))
            return .read(after: LogPosition(rawValue: tip.position.rawValue - 1))
        case .loading:
            guard applies.isEmpty else { return nil }
            isBusy = true
            return .base
        }
    }

    /// Reads the log to its end, from the message of the tip on, which must still be there.
    ///
    /// A log that has lost its end, and has got other messages at the same places, is found in this way. A node does
    /// this before it claims.
    mutating func verify() {
        mustVerify = true
        read()
    }

    /// Reads at this time at the latest.
    mutating func read(at time: Int64 = .min) { if failures == 0 { next = min(next, time) } }

    /// Compares the ends of the log with the tip at the next read.
    mutating func compare() {
        guard phase == .reading else { return }
        phase = .comparing
        next = .min
    }

    mutating func begin(at position: ReplicaPosition, cluster: String) {
        tip = ChainTip(cluster: cluster, partition: .first, at: position)
        assembler = FrameAssembler()
        (phase, isBusy, next, failures) = (.comparing, false, .min, 0)
    }

    mutating func didFail(at now: Int64, delay: Int64) {
        isBusy = false
        failures += 1
        next = now + delay
    }

    /// Returns the reason to halt, if the log ends before the tip.
    mutating func didReadEnds(_ ends: LogEnds, at now: Int64, delay: Int64) -> String? {
        (isBusy, failures) = (false, 0)
        seen = max(seen, ends.last)
        guard ends.last >= tip.position else {
            // The first answer may have been under way for longer than the tip.
            guard !wasBehind else { return endsBefore(ends.last) }
            wasBehind = true
            next = now + delay
            return nil
        }
        (wasBehind, phase, next, mustVerify) = (false, .reading, .min, true)
        return nil
    }

    /// The reason to halt when the log ends at `last`, before the tip.
    func endsBefore(_ last: LogPosition) -> String {
        "the log ends at \(last.rawValue) before this node's \(tip.position.rawValue): "
            + "run rivulet cluster reseed --from NODE"
    }

    /// Takes the answer to a read that began behind the present tip; `mayTake` is false while an append is under way.
    ///
    /// The frames have become the tip. Each has to be enqueued.
    mutating func didRead(
        _ messages: [LoggedMessage],
        mayTake: Bool,
        at now: Int64,
        interval: Int64
    ) throws(ChainTip.Fault) -> Reading {
        (isBusy, failures) = (false, 0)
        guard phase == .reading else { return .frames([]) }
        guard mayTake else {
            next = .min
            return .frames([])
        }
        if let place = verified, place.position == tip.position {
            guard let first = messages.first else {
                // The ends tell if this answer was old, or the log has lost its end.
                compare()
                return .frames([])
            }
            if first.position == place.position, coder.hash(first.bytes) != place.hash, fault != .ignoresChain {
                throw .broken(
                    "the log has another message at \(place.position.rawValue) than this node has applied: "
                        + "compare the nodes with rivulet cluster check, then run rivulet cluster reseed --from NODE"
                )
            }
        }
        guard let end = messages.last, end.position > tip.position else {
            endRead = reads
            // A message that was announced before the read, and is not there, does not exist.
            if seen == seenBefore { seen = tip.position }
            next = seen > tip.position ? now : now + interval
            return .end
        }
        next = .min
        var frames: [(frame: PositionedFrame, byteCount: Int)] = []
        for message in messages {
            do {
                guard let frame = try tip.accept(message, coder, fault) else { continue }
                frames.append((frame, message.bytes.count))
            } catch .gap {
                // The tip's successor was cut, or the log has lost it; the base tells.
                if frames.isEmpty { phase = .loading }
                break
            }
        }
        return .frames(frames)
    }

    /// Takes a message that was delivered; nil if it does not follow the tip, or may not be taken now.
    mutating func didReceive(
        _ message: LoggedMessage,
        mayTake: Bool
    ) throws(ChainTip.Fault) -> PositionedFrame? {
        seen = max(seen, message.position)
        guard message.position > tip.position else { return nil }
        guard mayTake, phase == .reading, !applies.isFull else {
            read()
            return nil
        }
        do {
            return try tip.accept(message, coder, fault)
        } catch .gap {
            read()
            return nil
        }
    }

    /// Makes a frame of this node the tip.
    mutating func advance(to frame: PositionedFrame) {
        tip.advance(to: frame)
        // A delivery may have come while the append was under way.
        if seen > tip.position { read() }
    }

    /// Adds a frame behind the tip's frames to those that the replica applies.
    mutating func enqueue(
        _ positioned: PositionedFrame,
        byteCount: Int,
        _ operations: [PendingOperation]
    ) throws(ChainTip.Fault) {
        do {
            guard let whole = try assembler.add(positioned) else { return }
            applies.append(ApplyQueue.Item(frame: whole, byteCount: byteCount, operations: operations))
        } catch {
            throw .broken("frame \(positioned.frame.number): \(error)")
        }
    }

    /// Checks that a base helps; nil if it does, else the reason to halt.
    mutating func didReadBase(_ position: LogPosition?) -> String? {
        failures = 0
        guard let position else {
            return "the log begins behind this node's \(tip.position.rawValue), and there is no base: "
                + "run rivulet cluster reseed --from NODE"
        }
        guard position > tip.position else {
            return "the log has lost the message behind this node's \(tip.position.rawValue): "
                + "run rivulet cluster reseed --from NODE"
        }
        return nil
    }

    /// The time of the next request; nil while one is under way.
    var wake: Int64? {
        if isBusy { return nil }
        if phase == .reading, applies.isFull { return nil }
        if phase == .loading, !applies.isEmpty { return nil }
        return next
    }
}
