import RivuletEventLoop
import RivuletSessions

/// The state machine of one subscriber.
///
/// At most one gather-write of it waits for the kernel, and nothing is written to it meanwhile; so what it takes of memory does not depend on
/// how much happens in its session. Source: <Documentation/Architecture.md#a-stream>.
struct SubscriberState: Hashable, Sendable {
    enum Phase: UInt8, CaseIterable, Hashable, Sendable {
        /// The state while it is in a group and the kernel has all that was written to it.
        case live
        /// The state while it is in a group and a part of its last write waits for the kernel.
        case blocked
        /// The state while it is in no group, and a part of its last write waits: it stands at a cursor, and asks for more from there then.
        case behind
        /// The state while its session is asked for what came after its cursor.
        case asking
        /// The state while it is in no group, and its session joins it later by itself.
        case waiting
        /// The state after its last word.
        case closing
    }

    /// What its driver does next.
    enum Action: Hashable, Sendable {
        case nothing
        /// Write what its group has that it has not got.
        case writeRest
        /// Take it out of its group, and keep where it stands.
        case leaveGroup
        /// Ask its session for what came after its cursor.
        case ask
    }

    private(set) var phase: Phase

    /// A member of a group.
    static var live: SubscriberState { SubscriberState(phase: .live) }

    /// Whether it belongs to a group's members.
    var isInGroup: Bool { phase == .live || phase == .blocked }

    /// Events of its group were written to it.
    mutating func didWrite(_ outcome: WriteOutcome) {
        guard phase == .live, case .queued = outcome else { return }
        phase = .blocked
    }

    /// It was sent something of its own, and is to be where `place` says from now on.
    mutating func didJoin(_ place: StreamPlace, _ outcome: WriteOutcome) -> Action {
        guard phase != .closing else { return .nothing }
        let isQueued = if case .queued = outcome { true } else { false }
        switch place {
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

    /// The kernel has all that was written to it.
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

    /// More waits for it in its group than may.
    mutating func didFallBehind() -> Action {
        guard phase == .blocked else { return .nothing }
        phase = .behind
        return .leaveGroup
    }

    /// Its paths are others from now on: it is in no group, and asks anew as soon as the kernel has all that was written to it.
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

    /// It was told its last word.
    mutating func didEnd() { phase = .closing }
}
