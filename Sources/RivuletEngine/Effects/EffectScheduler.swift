/// The running effects of one session.
///
/// Pure: it receives events with their times, and returns the actions to carry out, in order. A running effect is a
/// tree: leaves are works and timers, and the nodes above them continue when one of them ends. The effects of one
/// event are one tree, a root. Roots that hold the queue run one after the other.
package struct EffectScheduler<Event: AppEvent>: Sendable {
    typealias NodeID = EffectTaskID

    /// An action to carry out.
    package enum Action: Sendable {
        case dispatch(Event, EffectSource)
        case start(EffectTaskID, Effect<Event>.Work, EffectSource)
        case cancel(EffectTaskID)
        case report(EffectFault, eventName: String)
    }

    /// The end of a node: finished, or cut, so that nothing after it runs.
    enum End {
        case finished
        case cut
    }

    struct Node: Sendable {
        var kind: Kind
        let parent: NodeID?
        let root: NodeID
        /// True if no event waits for the node, whatever the root does.
        let isDetached: Bool
        /// The children, in the order in which they began.
        var children: [NodeID] = []
        /// True while the node's first steps are taken.
        ///
        /// Nodes that end below it are handled afterwards.
        var isOpening = true
        /// True if a node below it was cut.
        var isCut = false
    }

    enum Kind: Sendable {
        /// Ends when its children have ended.
        case merge
        /// Continues with the rest when its child has finished.
        case sequence(rest: ArraySlice<Effect<Event>>)
        /// Has a name, and ends with its child.
        case scope(EffectID)
        /// Waits for the end of its interval.
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

    /// Effects of one dispatch that have not begun.
    struct Waiting: Sendable {
        let effect: EventEffect<Event>
        let chain: EffectChain?
    }

    /// An interval in which one effect of a name has started.
    struct Interval: Sendable {
        let length: Duration
        /// The node that starts at the end of the interval.
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
    /// The root that is being started; only its immediate dispatches count for its chain.
    var opening: NodeID?
    private var waiting: ArraySlice<Waiting> = []
    /// The root with the works that the queue waits for.
    private(set) var holder: NodeID?
    private var lastID: UInt64 = 0
    private var isStopped = false

    package init(limits: EngineLimits) {
        self.limits = limits
    }

    /// True if the session's next event waits.
    package var isHoldingQueue: Bool { holder != nil }

    /// True if no effect runs or waits for its time.
    package var isIdle: Bool { nodes.isEmpty && intervals.isEmpty && waiting.isEmpty }

    /// The names of the events with running effects, in the order of their start.
    package var eventNamesUnderWay: [String] {
        roots.sorted { $0.key < $1.key }.map(\.value.eventName) + waiting.map(\.effect.eventName)
    }

    /// The time of the next call of ``alarmDidRing(now:)``; nil if none is needed.
    package var nextDeadline: Duration? { timers.first?.deadline }

    // MARK: - What happens

    /// Begins the effects of one dispatch, one event after the other.
    ///
    /// The effects of an event begin when those of the event before no longer hold the queue. `chain` is the count to
    /// which the dispatch itself belongs.
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

    /// Handles an alarm, at the time of ``nextDeadline`` or a little earlier.
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

    /// Ends everything.
    ///
    /// Nothing begins afterwards.
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
