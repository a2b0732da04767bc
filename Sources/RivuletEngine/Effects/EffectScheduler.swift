/// The running effects of one session.
///
/// A machine: it takes inputs with their times, and returns the actions to carry out, in order. The effects of one
/// event form one tree, which is identified by its root. The leaves are works and timers. An inner node continues when
/// one of its children ends. Trees that hold the queue run one after the other.
package struct EffectScheduler<Event: AppEvent>: Sendable {
    typealias NodeID = EffectTaskID

    /// An action to carry out.
    package enum Action: Sendable {
        case dispatch(Event, EffectSource)
        case start(EffectTaskID, Effect<Event>.Work, EffectSource)
        case cancel(EffectTaskID)
        case report(EffectError, eventName: String)
    }

    /// The end of a node.
    ///
    /// A node is cut if it failed, was cancelled or could not start. The rest of its sequence does not run then.
    enum End {
        case finished
        case cut
    }

    struct Node: Sendable {
        var kind: Kind
        let parent: NodeID?
        let root: NodeID
        /// True if no event waits for the node; other nodes of its tree may hold the queue.
        let isDetached: Bool
        /// The children, in the order in which they began.
        var children: [NodeID] = []
        /// True while the node's children are being begun.
        ///
        /// The code that begins a child then handles the child's end itself. A leaf has no children: its value stays
        /// true, and has no meaning.
        var isOpening = true
        /// True if a child was cut.
        var isCut = false
    }

    enum Kind: Sendable {
        /// Ends when its children have ended.
        case merge
        /// Continues with the rest when its child has finished.
        case sequence(rest: ArraySlice<Effect<Event>>)
        /// Has a name, and ends with its child.
        case scope(EffectID)
        /// Waits for the end of the throttle's interval, and then starts the effect.
        case held(EffectID, Effect<Event>)
        case work(isAwaited: Bool)
        case sleep
        case ticks(Event, interval: Duration, isQueued: Bool)
    }

    struct Root: Sendable {
        let eventName: String
        var chain: EffectChain?
        /// The number of works that the queue waits for.
        var awaited = 0
    }

    /// The effect of one event, which has not begun.
    struct Waiting: Sendable {
        let effect: EventEffect<Event>
        let chain: EffectChain?
    }

    /// An interval of `throttle`, in which an effect with the throttle's name has started.
    struct Interval: Sendable {
        let length: Duration
        /// The node that starts at the end of the interval; nil if no effect waits for it.
        var held: NodeID?
    }

    let limits: EngineLimits
    var nodes: [NodeID: Node] = [:]
    var roots: [NodeID: Root] = [:]
    var names: [EffectID: Set<NodeID>] = [:]
    var intervals: [EffectID: Interval] = [:]
    var timers = EffectTimers()
    /// Works that were cancelled and have not returned yet.
    var cancelled: Set<NodeID> = []
    /// The number of works that have neither been cancelled nor returned.
    var workCount = 0
    /// The work that has just returned, which needs no cancellation.
    var returned: NodeID?
    var actions: [Action] = []
    var now: Duration = .zero
    /// The root that is being opened; only events that its effects dispatch meanwhile are part of its chain.
    var opening: NodeID?
    private var waiting: ArraySlice<Waiting> = []
    /// The root with the works that the queue waits for.
    private(set) var holder: NodeID?
    private var lastID: UInt64 = 0
    private var isStopped = false

    package init(limits: EngineLimits) {
        self.limits = limits
    }

    /// True if the session's next event waits for an effect.
    package var isHoldingQueue: Bool { holder != nil }

    /// True if no effect runs or waits for its time.
    package var isIdle: Bool { nodes.isEmpty && intervals.isEmpty && waiting.isEmpty }

    /// The names of the events with effects that run or have not begun, in the order of the events.
    package var eventNamesUnderWay: [String] {
        roots.sorted { $0.key < $1.key }.map(\.value.eventName) + waiting.map(\.effect.eventName)
    }

    /// The time of the next call of ``alarmDidRing(now:)``; nil if none is needed.
    package var nextDeadline: Duration? { timers.first?.deadline }

    // MARK: - Inputs

    /// Begins the effects of one dispatch, one event after the other.
    ///
    /// The effects of an event begin when the effects of the previous event no longer hold the queue. `chain` is the
    /// chain to which the events belong; nil if they begin one.
    package mutating func begin(_ effects: [EventEffect<Event>], chain: EffectChain?, now: Duration) -> [Action] {
        guard !isStopped else { return [] }
        waiting += effects.map { Waiting(effect: $0, chain: chain) }
        return settle(at: now)
    }

    /// Handles the return of a work; `isDone` is false if the work threw an error.
    package mutating func workDidEnd(_ id: EffectTaskID, isDone: Bool, now: Duration) -> [Action] {
        self.now = now
        if cancelled.remove(id) == nil {
            returned = id
            end(id, isDone ? .finished : .cut)
            returned = nil
        }
        return settle(at: now)
    }

    /// Carries out the timers that are due; an alarm that rings too early finds none.
    package mutating func alarmDidRing(now: Duration) -> [Action] {
        self.now = now
        while let timer = timers.popFirst(until: now) { fire(timer) }
        return settle(at: now)
    }

    /// Marks a timer's tick as processed or refused.
    package mutating func tickDidEnd(_ id: EffectTaskID) {
        guard case .ticks(let event, let interval, _) = nodes[id]?.kind else { return }
        nodes[id]?.kind = .ticks(event, interval: interval, isQueued: false)
    }

    /// Ends all effects, and drops the effects that have not begun.
    ///
    /// A later call of `begin` does nothing.
    package mutating func stop() -> [Action] {
        isStopped = true
        waiting = []
        holder = nil
        for id in roots.keys.sorted() { discard(id) }
        intervals = [:]
        timers = EffectTimers()
        return takeActions()
    }

    // MARK: - Roots

    /// Releases the queue if all awaited works of the holder have ended, and begins the next waiting effects.
    private mutating func settle(at now: Duration) -> [Action] {
        self.now = now
        while true {
            if let holder {
                guard (roots[holder]?.awaited ?? 0) == 0 else { break }
                timers.remove(.timeLimit(holder))
                self.holder = nil
            }
            guard let next = waiting.popFirst() else { break }
            begin(next)
        }
        return takeActions()
    }

    private mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    private mutating func begin(_ next: Waiting) {
        let id = makeID()
        roots[id] = Root(eventName: next.effect.eventName, chain: next.chain)
        opening = id
        open(next.effect.effect, id: id, parent: nil, root: id, isDetached: false)
        opening = nil
        guard let root = roots[id], root.awaited > 0 else { return }
        holder = id
        timers.insert(.timeLimit(id), at: now + limits.effectTimeMax)
    }

    mutating func makeID() -> NodeID {
        lastID += 1
        return NodeID(rawValue: lastID)
    }

    /// Returns the works that the queue waits for, in the order of their start.
    func awaitedWorks(of root: NodeID) -> [NodeID] {
        nodes.filter { $0.value.root == root && $0.value.isAwaitedWork }.keys.sorted()
    }
}

extension EffectScheduler.Node {
    /// True if the queue waits for the node.
    var isAwaitedWork: Bool {
        if case .work(isAwaited: true) = kind { true } else { false }
    }
}
