// This file opens and ends the nodes of an effect's tree.

extension EffectScheduler {
    // MARK: - Growing

    /// Begins an effect under a node, or as the root with the given id.
    ///
    /// - Returns: The end of the effect; nil while the effect runs.
    @discardableResult
    mutating func open(
        _ effect: Effect<Event>,
        id: NodeID? = nil,
        parent: NodeID?,
        root: NodeID,
        isDetached: Bool
    ) -> End? {
        let id = id ?? makeID()
        func node(_ kind: Kind) -> Node { Node(kind: kind, parent: parent, root: root, isDetached: isDetached) }
        switch effect.operation {
        case .none:
            return leave(id, .finished)
        case .dispatch(let events):
            dispatch(events, of: root)
            return leave(id, .finished)
        case .cancel(let name):
            cancel(name)
            return leave(id, .finished)
        case .detached(let effect):
            return open(effect, id: id, parent: parent, root: root, isDetached: true)
        case .run(let work, let order):
            let isAwaited = order == .beforeNextEvent && !isDetached && (opening == root || holder == root)
            return start(work, as: id, node: node(.work(isAwaited: isAwaited)))
        case .sleep(let delay):
            return arm(id, node(.sleep), at: now + max(delay, .zero))
        case .ticks(let event, let interval):
            let interval = max(interval, limits.timerIntervalMin)
            return arm(id, node(.ticks(event, interval: interval, isQueued: false)), at: now + interval)
        case .merge(let effects):
            insert(node(.merge), as: id)
            return openMerge(effects, id)
        case .concatenate(let effects):
            insert(node(.sequence(rest: effects[...])), as: id)
            return proceed(id)
        case .cancellable(let effect, let name, let inFlight):
            switch inFlight {
            case .join: break
            case .cancel: cancel(name)
            // The timer that is kept takes the place of this effect. It never ends by itself, so a sequence does not
            // continue after it.
            case .keep: if isRunning(name, outside: parent) { return leave(id, .cut) }
            }
            // The cancellation may have ended the parent too, if the parent is in an effect with the same name.
            guard isThere(parent) else { return leave(id, .cut) }
            insert(node(.scope(name)), as: id)
            return openScope(effect, id)
        case .throttle(let effect, let name, let interval, let latest):
            return throttle(effect, name, interval, latest: latest, as: id, node: node(.held(name, effect)))
        }
    }

    /// Returns true if an effect with the name runs, other than the effects that contain this node.
    private func isRunning(_ name: EffectID, outside node: NodeID?) -> Bool {
        var running = names[name] ?? []
        var outer = node
        while let id = outer, !running.isEmpty {
            running.remove(id)
            outer = nodes[id]?.parent
        }
        return !running.isEmpty
    }

    private func isThere(_ parent: NodeID?) -> Bool {
        guard let parent else { return true }
        return nodes[parent] != nil
    }

    /// Ends an effect that has no node of its own.
    ///
    /// If the effect is a root, the root is removed.
    private mutating func leave(_ id: NodeID, _ end: End) -> End {
        roots[id] = nil
        return end
    }

    private mutating func insert(_ node: Node, as id: NodeID) {
        nodes[id] = node
        if let parent = node.parent { nodes[parent]?.children.append(id) }
        switch node.kind {
        case .scope(let name), .held(let name, _): names[name, default: []].insert(id)
        case .merge, .sequence, .work, .sleep, .ticks: break
        }
    }

    private mutating func start(_ work: Effect<Event>.Work, as id: NodeID, node: Node) -> End? {
        let eventName = roots[node.root]?.eventName ?? ""
        guard workCount + cancelled.count < limits.effectsUnderWayMax else {
            actions.append(.report(.tooManyUnderWay(limit: limits.effectsUnderWayMax), eventName: eventName))
            return leave(id, .cut)
        }
        workCount += 1
        if node.isAwaitedWork { roots[node.root]?.awaited += 1 }
        insert(node, as: id)
        actions.append(.start(id, work, EffectSource(eventName: eventName)))
        return nil
    }

    private mutating func arm(_ id: NodeID, _ node: Node, at deadline: Duration) -> End? {
        guard hasTimer(for: node.root) else { return leave(id, .cut) }
        insert(node, as: id)
        timers.insert(.node(id), at: deadline)
        return nil
    }

    /// Returns true if one more timer is allowed; otherwise reports the limit.
    private mutating func hasTimer(for root: NodeID) -> Bool {
        if timers.count < limits.timersMax { return true }
        actions.append(.report(.tooManyTimers(limit: limits.timersMax), eventName: roots[root]?.eventName ?? ""))
        return false
    }

    private mutating func openMerge(_ effects: [Effect<Event>], _ id: NodeID) -> End? {
        for effect in effects {
            guard let node = nodes[id] else { return .cut }
            if open(effect, parent: id, root: node.root, isDetached: node.isDetached) == .cut {
                nodes[id]?.isCut = true
            }
        }
        guard let node = nodes[id] else { return .cut }
        nodes[id]?.isOpening = false
        guard node.children.isEmpty else { return nil }
        remove(id)
        return node.isCut ? .cut : .finished
    }

    /// Begins the effects of a sequence up to the first one that does not end at once.
    private mutating func proceed(_ id: NodeID) -> End? {
        nodes[id]?.isOpening = true
        while let node = nodes[id], case .sequence(var rest) = node.kind {
            guard let next = rest.popFirst() else {
                remove(id)
                return .finished
            }
            nodes[id]?.kind = .sequence(rest: rest)
            let end = open(next, parent: id, root: node.root, isDetached: node.isDetached)
            guard end != .finished else { continue }
            guard end == nil else {
                remove(id)
                return .cut
            }
            nodes[id]?.isOpening = false
            return nodes[id] == nil ? .cut : nil
        }
        return .cut
    }

    private mutating func openScope(_ effect: Effect<Event>, _ id: NodeID) -> End? {
        guard let node = nodes[id] else { return .cut }
        let end = open(effect, parent: id, root: node.root, isDetached: node.isDetached)
        guard nodes[id] != nil else { return .cut }
        nodes[id]?.isOpening = false
        if end != nil { remove(id) }
        return end
    }

    private mutating func dispatch(_ events: [Event], of root: NodeID) {
        let eventName = roots[root]?.eventName ?? ""
        var chain: EffectChain?
        if opening == root {
            chain = roots[root]?.chain ?? EffectChain()
            roots[root]?.chain = chain
        }
        for event in events {
            switch chain?.admit(max: limits.chainedEventsMax) {
            case nil, .admitted:
                actions.append(.dispatch(event, EffectSource(eventName: eventName, chain: chain)))
            case .refused(let isFirst):
                guard isFirst else { continue }
                actions.append(.report(.chainTooLong(limit: limits.chainedEventsMax), eventName: eventName))
            }
        }
    }

    // MARK: - Rates

    private mutating func throttle(
        _ effect: Effect<Event>,
        _ name: EffectID,
        _ length: Duration,
        latest: Bool,
        as id: NodeID,
        node: Node
    ) -> End? {
        guard let interval = intervals[name] else {
            guard hasTimer(for: node.root) else { return leave(id, .cut) }
            begin(interval: length, of: name)
            var scope = node
            scope.kind = .scope(name)
            insert(scope, as: id)
            return openScope(effect, id)
        }
        if let held = interval.held {
            guard latest else { return leave(id, .cut) }
            end(held, .cut)
            guard isThere(node.parent) else { return leave(id, .cut) }
        }
        insert(node, as: id)
        nodes[id]?.isOpening = false
        intervals[name]?.held = id
        return nil
    }

    private mutating func begin(interval length: Duration, of name: EffectID) {
        intervals[name] = Interval(length: length)
        timers.insert(.interval(name), at: now + max(length, .zero))
    }

    /// Starts the effect that waited for the end of the interval.
    ///
    /// That effect begins the next interval.
    private mutating func intervalDidEnd(_ name: EffectID) {
        guard let interval = intervals.removeValue(forKey: name) else { return }
        guard let held = interval.held, case .held(_, let effect) = nodes[held]?.kind else { return }
        begin(interval: interval.length, of: name)
        nodes[held]?.kind = .scope(name)
        nodes[held]?.isOpening = true
        guard let parent = nodes[held]?.parent else {
            if openScope(effect, held) != nil { roots[held] = nil }
            return
        }
        if let end = openScope(effect, held) { childDidEnd(of: parent, end) }
    }

    // MARK: - Time

    /// Does the work of a timer after its deadline.
    mutating func fire(_ timer: EffectTimers.Timer) {
        switch timer.target {
        case .interval(let name):
            intervalDidEnd(name)
        case .timeLimit(let root):
            let eventName = roots[root]?.eventName ?? ""
            actions.append(.report(.timedOut(limit: limits.effectTimeMax), eventName: eventName))
            for work in awaitedWorks(of: root) { end(work, .cut) }
        case .node(let id):
            guard case .ticks(let event, let interval, let isQueued) = nodes[id]?.kind else {
                return end(id, .finished)
            }
            timers.insert(timer.target, at: Self.next(after: timer.deadline, interval, now: now))
            guard !isQueued, let root = nodes[id]?.root else { return }
            nodes[id]?.kind = .ticks(event, interval: interval, isQueued: true)
            let eventName = roots[root]?.eventName ?? ""
            actions.append(.dispatch(event, EffectSource(eventName: eventName, tick: id)))
        }
    }

    /// Returns the next time of a repeating timer.
    ///
    /// Times that have passed are skipped.
    private static func next(after deadline: Duration, _ interval: Duration, now: Duration) -> Duration {
        let missed = max(((now - deadline) / interval).rounded(.down), 0)
        let next = deadline + interval * Int(min(missed, 1e9))
        return next > now ? next : max(next + interval, now)
    }

    // MARK: - Ending

    /// Ends all effects with a name, in the order in which they began.
    private mutating func cancel(_ name: EffectID) {
        for id in (names[name] ?? []).sorted() { end(id, .cut) }
    }

    /// Ends a node and the nodes below it, and continues with its parent.
    mutating func end(_ id: NodeID, _ end: End) {
        guard let parent = nodes[id].map(\.parent) else { return }
        discard(id)
        if let parent { childDidEnd(of: parent, end) } else { roots[id] = nil }
    }

    private mutating func childDidEnd(of id: NodeID, _ end: End) {
        guard let node = nodes[id] else { return }
        if end == .cut { nodes[id]?.isCut = true }
        // The code that opens the node handles the result itself.
        guard !node.isOpening else { return }
        switch node.kind {
        case .merge:
            if node.children.isEmpty { self.end(id, nodes[id]?.isCut == true ? .cut : .finished) }
        case .sequence:
            guard end == .finished else { return self.end(id, .cut) }
            let parent = node.parent
            guard let end = proceed(id) else { return }
            if let parent { childDidEnd(of: parent, end) } else { roots[id] = nil }
        case .scope:
            self.end(id, end)
        case .held, .work, .sleep, .ticks:
            break
        }
    }

    /// Removes a node and everything below it from the tree.
    ///
    /// Works are cancelled, unless they have returned.
    mutating func discard(_ id: NodeID) {
        for child in nodes[id]?.children ?? [] { discard(child) }
        remove(id)
    }

    private mutating func remove(_ id: NodeID) {
        guard let node = nodes.removeValue(forKey: id) else { return }
        if let parent = node.parent { nodes[parent]?.children.removeAll { $0 == id } }
        if node.parent == nil { roots[id] = nil }
        switch node.kind {
        case .scope(let name):
            forget(name, id)
        case .held(let name, _):
            forget(name, id)
            if intervals[name]?.held == id { intervals[name]?.held = nil }
        case .work(let isAwaited):
            workCount -= 1
            if isAwaited { roots[node.root]?.awaited -= 1 }
            if returned != id {
                cancelled.insert(id)
                actions.append(.cancel(id))
            }
        case .sleep, .ticks:
            timers.remove(.node(id))
        case .merge, .sequence:
            break
        }
    }

    private mutating func forget(_ name: EffectID, _ id: NodeID) {
        names[name]?.remove(id)
        if names[name]?.isEmpty == true { names[name] = nil }
    }
}
