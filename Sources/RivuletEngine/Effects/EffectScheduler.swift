/// The effects of one session that are under way.
///
/// Pure: it is told what happens and when, and answers what is to be done, in order. An effect is a tree while it runs: leaves are works
/// and timers, the nodes above them know what follows when one of them ends. The effects of one event are one tree, a root; roots that
/// hold the queue run one after the other.
package struct EffectScheduler<Event: AppEvent>: Sendable {
    typealias NodeID = EffectTaskID

    /// What is to be done.
    package enum Action: Sendable {
        case dispatch(Event, EffectSource)
        case start(EffectTaskID, Effect<Event>.Work, EffectSource)
        case cancel(EffectTaskID)
        case report(EffectFault, eventName: String)
    }

    /// How a node ended: done, or not, so that nothing behind it runs.
    enum End {
        case finished
        case cut
    }

    struct Node: Sendable {
        var kind: Kind
        let parent: NodeID?
        let root: NodeID
        /// Whether no event waits for it, whatever the root does.
        let isDetached: Bool
        /// In the order of their beginning.
        var children: [NodeID] = []
        /// Whether its first steps are being taken: what ends below it is looked at afterwards.
        var isOpening = true
        /// Whether something below it was cut.
        var isCut = false
    }

    enum Kind: Sendable {
        /// Ends when its children have.
        case merge
        /// Goes on with the rest when its child has finished.
        case sequence(rest: ArraySlice<Effect<Event>>)
        /// Bears a name, and ends with its child.
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
        /// How many works the queue waits for.
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
        /// What starts at its end.
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
    /// How many works have not been cancelled and have not returned.
    var workCount = 0
    /// The work that has just returned, which nobody has to cancel.
    var returned: NodeID?
    var actions: [Action] = []
    var now: Duration = .zero
    /// The root that is being started: what it dispatches, it dispatches at once.
    var opening: NodeID?
    private var waiting: ArraySlice<Waiting> = []
    /// The root for whose works the queue waits.
    private(set) var holder: NodeID?
    private var lastID: UInt64 = 0
    private var isStopped = false

    package init(limits: EngineLimits) {
        self.limits = limits
    }

    /// Whether the session's next event waits.
    package var isHoldingQueue: Bool { holder != nil }

    /// Whether nothing is under way, or waits for its time.
    package var isIdle: Bool { nodes.isEmpty && intervals.isEmpty && waiting.isEmpty }

    /// The names of the events whose effects are under way, in the order of their beginning.
    package var eventNamesUnderWay: [String] {
        roots.sorted { $0.key < $1.key }.map(\.value.eventName) + waiting.map(\.effect.eventName)
    }

    /// When ``alarmDidRing(now:)`` is to be called; nil for never.
    package var nextDeadline: Duration? { timers.first?.deadline }

    // MARK: - What happens

    /// Begins the effects of one dispatch, those of its second event when those of its first hold the queue no longer, and so on.
    ///
    /// `chain` is the count to which the dispatch itself belongs.
    package mutating func begin(_ effects: [EventEffect<Event>], chain: EffectChain?, now: Duration) -> [Action] {
        guard !isStopped else { return [] }
        waiting += effects.map { Waiting(effect: $0, chain: chain) }
        return settle(at: now)
    }

    /// A work has returned; `isDone` is false when it threw.
    package mutating func workDidEnd(_ id: EffectTaskID, isDone: Bool, now: Duration) -> [Action] {
        self.now = now
        if cancelled.remove(id) == nil {
            returned = id
            end(id, isDone ? .finished : .cut)
            returned = nil
        }
        return settle(at: now)
    }

    /// The time of ``nextDeadline`` has come, or will not be long.
    package mutating func alarmDidRing(now: Duration) -> [Action] {
        self.now = now
        while let timer = timers.popFirst(until: now) { fire(timer) }
        return settle(at: now)
    }

    /// A timer's tick has had its turn, or found no room.
    package mutating func tickDidEnd(_ id: EffectTaskID) {
        guard case .ticks(let event, let interval, _) = nodes[id]?.kind else { return }
        nodes[id]?.kind = .ticks(event, interval: interval, isQueued: false)
    }

    /// Ends everything; nothing begins any more.
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

    /// Lets the queue go when nothing of the holder is waited for any more, and begins what may begin.
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

    /// The works that the queue waits for, in the order of their beginning.
    func awaitedWorks(of root: NodeID) -> [NodeID] {
        nodes.filter { $0.value.root == root && $0.value.isAwaitedWork }.keys.sorted()
    }
}

extension EffectScheduler.Node {
    /// Whether the queue waits for it.
    var isAwaitedWork: Bool {
        if case .work(isAwaited: true) = kind { true } else { false }
    }
}
