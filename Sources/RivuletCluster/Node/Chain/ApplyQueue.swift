import DequeModule

/// The frames that wait for the replica, in order.
struct ApplyQueue {
    struct Item {
        let frame: PositionedFrame
        let byteCount: Int
        /// The operations to answer; they are the last ones of the frame.
        let operations: [PendingOperation]
    }

    enum Step {
        /// The replica's hash over all outcomes must be this one, before the next frame is applied.
        case verify(outcomes: UInt64)
        case apply([PositionedFrame])
    }

    private let limits: ClusterNodeLimits
    private var items: Deque<Item> = []
    private var bytes = 0
    /// The number of first items that the replica has.
    private var applying = 0
    private var isVerifying = false
    /// True if the checkpoint at the beginning was compared.
    private var isVerified = false

    init(_ limits: ClusterNodeLimits) { self.limits = limits }

    var isEmpty: Bool { items.isEmpty }
    var isFull: Bool { items.count >= limits.unappliedFramesMax || bytes >= limits.unappliedBytesMax }

    mutating func append(_ item: Item) {
        items.append(item)
        bytes += item.byteCount
    }

    mutating func next() -> Step? {
        guard applying == 0, !isVerifying, let first = items.first else { return nil }
        if !isVerified, let outcomes = first.frame.checkpoint {
            isVerifying = true
            return .verify(outcomes: outcomes)
        }
        isVerified = false
        var frames = [first.frame]
        for item in items.dropFirst().prefix(limits.appliedFramesMax - 1) {
            guard item.frame.checkpoint == nil else { break }
            frames.append(item.frame)
        }
        applying = frames.count
        return .apply(frames)
    }

    mutating func didVerify() { (isVerifying, isVerified) = (false, true) }

    /// Removes the applied frames.
    mutating func didApply() -> [Item] {
        let applied = Array(items.prefix(applying))
        items.removeFirst(applying)
        applying = 0
        for item in applied { bytes -= item.byteCount }
        return applied
    }

    /// Removes all frames, after the replica has failed.
    mutating func removeAll() -> [Item] {
        defer { self = ApplyQueue(limits) }
        return Array(items)
    }
}

extension PositionedFrame {
    /// The hash that a checkpoint at the beginning of the frame states.
    var checkpoint: UInt64? {
        if case .checkpoint(let outcomes)? = frame.operations.first { outcomes } else { nil }
    }
}
