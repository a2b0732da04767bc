import RivuletEventLoop
import RivuletSessions

/// The state machine of one subscriber.
///
/// At most one gather-write of a subscriber waits for the kernel. While it waits, nothing else is written to the
/// subscriber. So the memory of a subscriber does not depend on the number of events in its session. Source:
/// <Documentation/Architecture.md#a-stream>.
struct SubscriberState: Hashable, Sendable {
    enum Phase: UInt8, CaseIterable, Hashable, Sendable {
        /// The state while it is in a group and the kernel has taken everything that was written to it.
        case live
        /// The state while it is in a group and a part of its last write waits for the kernel.
        case blocked
        /// The state while it is in no group and a part of its last write waits for the kernel.
        ///
        /// After that, it asks for the changes after its cursor.
        case behind
        /// The state while its session is asked for the changes after its cursor.
        case asking
        /// The state while it is in no group, and its session will join it later.
        case waiting
        /// The state after its `bye`.
        case closing
    }

    /// The next action of its driver.
    enum Action: Hashable, Sendable {
        case nothing
        /// Write the entries of its group's log that it lacks.
        case writeRest
        /// Take it out of its group, and keep its cursor.
        case leaveGroup
        /// Ask its session for the changes after its cursor.
        case ask
    }

    private(set) var phase: Phase

    /// The state of a group's member that can be written to.
    static var live: SubscriberState { SubscriberState(phase: .live) }

    /// True if it is a member of a group.
    var isInGroup: Bool { phase == .live || phase == .blocked }

    /// Records that events of its group were written to it.
    mutating func didWrite(_ outcome: WriteOutcome) {
        guard phase == .live, case .queued = outcome else { return }
        phase = .blocked
    }

    /// Records that it was sent events of its own, and takes the state that `slot` requires.
    mutating func didJoin(_ slot: StreamSlot, _ outcome: WriteOutcome) -> Action {
        guard phase != .closing else { return .nothing }
        let isQueued = if case .queued = outcome { true } else { false }
        switch slot {
        case .group:
            phase = isQueued ? .blocked : .live
            return .nothing
        case .more:
            phase = isQueued ? .behind : .asking
            return isQueued ? .nothing : .ask
        case .waiting:
            phase = .waiting
            return .nothing
        }
    }

    /// Records that the kernel has taken everything that was written to it.
    mutating func didDrain() -> Action {
        switch phase {
        case .blocked:
            phase = .live
            return .writeRest
        case .behind:
            phase = .asking
            return .ask
        case .live, .asking, .waiting, .closing: return .nothing
        }
    }

    /// Records that more bytes wait for it in its group than the limit allows.
    mutating func didFallBehind() -> Action {
        guard phase == .blocked else { return .nothing }
        phase = .behind
        return .leaveGroup
    }

    /// Records that its paths have changed: it is in no group now.
    ///
    /// It asks again as soon as the kernel has taken everything that was written to it.
    mutating func didChangePaths() -> Action {
        switch phase {
        case .live, .asking, .waiting:
            phase = .asking
            return .ask
        case .blocked, .behind:
            phase = .behind
            return .nothing
        case .closing: return .nothing
        }
    }

    /// Records that its group is gone, or that the answer to its request will not come: it may have missed events.
    ///
    /// It asks again in the same way as after a change of its paths.
    mutating func didLoseSource() -> Action { didChangePaths() }

    /// Records that it was sent its `bye`.
    mutating func didEnd() { phase = .closing }
}
