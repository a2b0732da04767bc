import RivuletBase
import RivuletEngine
import RivuletJSON
import RivuletObservation

/// The streams of one session: groups, their pace, and what is kept for streams that resume.
///
/// A class, because the sink that it calls may come back to it at once.
final class SessionStreams {
    private let key: SessionKey
    private let state: any SessionState
    private let environment: SessionEnvironment
    /// The reads of streams that wait for storage to be resumed.
    let reads: LogReads
    private var members = StreamMembership()
    private var history: ChangeHistory
    private var views = SessionViews()
    /// Snapshots that streams share which join now.
    private var snapshots = SharedSnapshots()
    /// Whether a timer to forget snapshots is under way.
    private var forgetsSnapshots = false
    /// The groups with an interval that a timer is under way for.
    private var ticks: Set<GroupID> = []
    /// Where the session stood before what is being told.
    private var positionBefore: Cursor.Position
    /// Whether the session's streams were ended: none begin any more.
    private(set) var hasEnded = false
    private var onTick: ((GroupID) -> Void)?
    private var onForget: (() -> Void)?

    /// Begins without a stream, or goes on with the streams of an earlier stay in memory.
    init(
        _ key: SessionKey,
        _ state: any SessionState,
        _ standing: SessionStanding,
        resuming earlier: Passivated? = nil,
        environment: SessionEnvironment
    ) {
        self.key = key
        self.state = state
        self.environment = environment
        reads = LogReads(environment.resumes)
        let (position, limits) = (standing.position, environment.limits)
        positionBefore = position
        guard let earlier else {
            history = ChangeHistory(from: position, limits: limits)
            return
        }
        history = ChangeHistory(from: position, index: earlier.index, limits: limits)
        members = StreamMembership(groups: earlier.groups, count: earlier.count)
        for case let view? in earlier.groups.values.map(\.key.view) { _ = watch(view, standing) }
    }

    /// Whether no stream watches the session.
    var isEmpty: Bool { members.isEmpty }

    /// Whether no stream waits for storage, and none for a timer.
    var isQuiet: Bool { reads.count == 0 && ticks.isEmpty }

    /// Streams of all groups, and those that wait to be members.
    var count: Int { members.count }

    /// The approximate memory of the streams and of the changes and snapshots kept for them, in bytes.
    var bytes: Int { history.bytes + (views.isEmpty ? 0 : views.bytes) + members.bytes + snapshots.bytes }

    // MARK: - Documents

    /// The view object; nil: no stream watches it.
    func view(_ name: String) -> OpaqueBox? { views.view(name) }

    /// Keeps a view up to date from now on; false: the app does not have it.
    func watch(_ view: String, _ standing: SessionStanding) -> Bool {
        views.watch(view, state, standing, environment.limits)
    }

    /// What streams of a watched view read now, or, for nil, those of the state.
    func document(of view: String?, _ standing: SessionStanding) -> ReadableDocument {
        guard let view else { return state.document(of: standing.state) }
        return views.view(view).map { state.document(ofView: $0) } ?? .nothing
    }

    /// The changes of the state that are kept in memory.
    var stateHistory: ChangeHistory { history }

    /// The changes of the state, or of a view, that are kept in memory; nil: no stream watches the view.
    func history(of view: String?) -> ChangeHistory? {
        guard let view else { return history }
        return views.history(of: view)
    }

    // MARK: - Joining and leaving

    /// Whether the session has as many streams as it may.
    var isFull: Bool { members.count + reads.count >= environment.limits.streamsPerSessionMax }

    /// Adds a stream, which gets `first`.
    func join(_ subscriber: Subscriber, first: [StreamEvent], _ standing: SessionStanding) {
        let stream = subscriber.request.stream
        let id = members.group(subscriber.key, makeID: environment.makeGroupID)
        let place = members.add(
            stream,
            to: id,
            at: environment.uptime(),
            position: standing.position,
            // The change behind a shared snapshot is the beginning of one stream, and holds up no member's next change.
            hasGotChange: subscriber.request.resume != nil && first.contains { $0.name == .change }
        )
        if place == .waiting { scheduleTick(of: id) }
        give(subscriber, first, at: place, cursor: standing.cursor(of: subscriber.key))
    }

    /// Sends `first` to a stream, and says what becomes of it.
    func give(_ subscriber: Subscriber, _ first: [StreamEvent], at place: StreamPlace, cursor: Cursor) {
        environment.sink.join(
            subscriber.request.stream,
            at: place,
            session: key,
            topic: subscriber.key.topic,
            first: first,
            cursor: cursor,
            resumesAll: subscriber.request.resumesAll
        )
    }

    /// Adds a stream that has to drop what it has.
    func reset(_ subscriber: Subscriber, _ reason: ResetReason, _ standing: SessionStanding) {
        join(subscriber, first: beginning(of: subscriber.key, because: reason, standing), standing)
    }

    /// The events that a stream begins with: a snapshot, or, with a reason, a reset.
    ///
    /// If streams of the group began a moment ago: the same bytes, and one change that leads from there to the present.
    func beginning(
        of group: StreamGroupKey,
        because reason: ResetReason? = nil,
        _ standing: SessionStanding
    ) -> [StreamEvent] {
        let (key, now) = (SharedSnapshots.Key(group, reason: reason), environment.uptime())
        let cursor = standing.cursor(of: group)
        let shared =
            snapshots.isEmpty
            ? nil : snapshots.events(of: key, at: cursor, now: now) { change(after: $0, for: group, standing) }
        if let shared { return shared }
        let event = StreamEvent.beginning(
            with: document(of: group.view, standing),
            at: group.paths,
            cursor: cursor,
            because: reason
        )
        guard !environment.memory.isCrowded, snapshots.keep(event, as: key, at: cursor, now: now) else {
            return [event]
        }
        if !forgetsSnapshots { forgetSnapshots(in: SharedSnapshots.ageMax) }
        return [event]
    }

    /// Has `body` called when snapshots were forgotten, which the session's memory counts.
    func onForget(_ body: @escaping () -> Void) { onForget = body }

    private func forgetSnapshots(in delay: Duration) {
        forgetsSnapshots = true
        environment.schedule(delay) { [weak self] in
            guard let self else { return }
            forgetsSnapshots = false
            if let next = snapshots.expire(now: environment.uptime()) { forgetSnapshots(in: next) }
            onForget?()
        }
    }

    func refuse(_ stream: StreamID, with refusal: StreamRefusal) { environment.sink.refuse(stream, with: refusal) }

    /// Takes back one membership of that loop; false: there is no such group.
    func leave(_ group: GroupID, loop: Int) -> Bool {
        guard members.leave(group, loop: loop) else { return false }
        forgetIfEmpty(group)
        return true
    }

    private func forgetIfEmpty(_ id: GroupID) {
        if members.forgetIfEmpty(id) { ticks.remove(id) }
    }

    // MARK: - Publishing

    /// Records what became visible, and tells each group what it sees of it; one event per group at most.
    func publish(_ changes: [StateChange], over old: SessionTimeline.Seen, _ standing: SessionStanding) {
        positionBefore = old.position
        if !changes.isEmpty {
            history.record(changes, at: standing.position, hasUnlogged: !standing.unlogged.isEmpty)
        }
        let updates = views.isEmpty ? [:] : views.update(state, from: old.state, to: standing, after: changes)
        tell(changes, of: nil, from: { state.document(of: old.state) }, standing)
        for (view, update) in updates {
            tell(update.changes, of: view, from: { ReadableDocument(update.before) }, standing)
        }
    }

    /// Tells the groups that watch a document; those that see the same get the same event.
    private func tell(
        _ changes: [StateChange],
        of view: String?,
        from old: () -> ReadableDocument,
        _ standing: SessionStanding
    ) {
        guard let paths = members.paths(of: view) else { return }
        if let alike = AlikeChanges(changes, watched: paths) {
            guard !alike.items.isEmpty else { return }
            guard alike.watchers.count > 1 else {
                guard let id = alike.watchers.first, let group = dueGroup(id) else { return }
                let event = event(alike.items, for: group.key, from: old, standing)
                return environment.sink.deliver(event, to: id, loops: group.loops)
            }
            var events: [Rendering: StreamEvent] = [:]
            for id in alike.watchers { tell(id, of: 0, seeing: alike.items, from: old, standing, &events) }
            return
        }
        let all = SeenChanges(changes, watched: paths, from: old(), to: document(of: view, standing))
        var events: [Rendering: StreamEvent] = [:]
        for (id, sight) in all.seen {
            let seen = all.sights[sight, default: []].map { all.items[$0] }
            tell(id, of: sight, seeing: seen, from: old, standing, &events)
        }
    }

    /// Tells a group what it sees, in the event of those that see the same.
    private func tell(
        _ id: GroupID,
        of sight: Int,
        seeing changes: @autoclosure () -> [StateChange],
        from old: () -> ReadableDocument,
        _ standing: SessionStanding,
        _ events: inout [Rendering: StreamEvent]
    ) {
        guard let group = dueGroup(id) else { return }
        let rendering = Rendering(sight, for: group.key)
        let event = events[rendering] ?? event(changes(), for: group.key, from: old, standing)
        events[rendering] = event
        environment.sink.deliver(event, to: id, loops: group.loops)
    }

    /// The group, when it is told now.
    private func dueGroup(_ id: GroupID) -> StreamGroup? {
        guard let group = members[id] else { return nil }
        guard group.pace != nil else { return group }
        if members.isDue(id, at: environment.uptime(), from: positionBefore) { return group }
        scheduleTick(of: id)
        return nil
    }

    private func event(
        _ changes: [StateChange],
        for key: StreamGroupKey,
        from old: () -> ReadableDocument,
        _ standing: SessionStanding
    ) -> StreamEvent {
        .change(
            changes,
            for: key,
            from: old(),
            to: document(of: key.view, standing),
            cursor: standing.cursor(of: key)
        )
    }

    // MARK: - Pacing

    /// Has `body` called when a group's timer has fired, to call ``tickDidFire(of:_:)`` with where the session stands then.
    func onTick(_ body: @escaping (GroupID) -> Void) { onTick = body }

    private func scheduleTick(of id: GroupID) {
        guard let delay = members.nextTick(of: id, at: environment.uptime()) else { return }
        ticks.insert(id)
        environment.schedule(delay) { [weak self] in self?.onTick?(id) }
    }

    /// Tells the members of a group what happened since they were told last, and makes streams that waited members; false: the group is gone.
    func tickDidFire(of id: GroupID, _ standing: SessionStanding) -> Bool {
        ticks.remove(id)
        guard !hasEnded, let key = members[id]?.key else { return false }
        let now = environment.uptime()
        // Told before the others join: their own change leads them to the same place.
        var isTold = false
        if let pending = members.tickDidFire(of: id, at: now), let event = change(after: pending, for: key, standing),
            let loops = members[id]?.loops, !loops.isEmpty
        {
            environment.sink.deliver(event, to: id, loops: loops)
            isTold = true
        }
        if joinWaiting(members.takeWaiting(of: id, at: now), to: id, of: key, standing) { isTold = true }
        if isTold { members.didSend(to: id, at: now) }
        scheduleTick(of: id)
        forgetIfEmpty(id)
        return true
    }

    /// Makes waiting streams members; true: some of them were told something.
    @discardableResult
    private func joinWaiting(
        _ waiting: [StreamPace.Waiting],
        to id: GroupID,
        of key: StreamGroupKey,
        _ standing: SessionStanding
    ) -> Bool {
        var events: [Cursor.Position: StreamEvent?] = [:]
        var isTold = false
        for stream in waiting {
            let event = events[stream.position] ?? change(after: stream.position, for: key, standing)
            events[stream.position] = .some(event)
            if event != nil { isTold = true }
            members.didWait(stream.stream, in: id)
            environment.sink.join(
                stream.stream,
                at: .group(id),
                session: self.key,
                topic: key.topic,
                first: event.map { [$0] } ?? [],
                cursor: standing.cursor(of: key),
                resumesAll: false
            )
        }
        return isTold
    }

    /// What leads a member from a place of this incarnation to the present; nil: nothing.
    private func change(
        after position: Cursor.Position,
        for key: StreamGroupKey,
        _ standing: SessionStanding
    ) -> StreamEvent? {
        let missed = history(of: key.view)?.index.changes(after: position) ?? [MissedChange(path: "")]
        let (document, cursor) = (document(of: key.view, standing), standing.cursor(of: key))
        guard let changes = key.paths.changes(missing: missed, in: document) else {
            return .beginning(with: document, at: key.paths, cursor: cursor, because: .placesUnknown)
        }
        return changes.isEmpty ? nil : .change(changes, for: key, from: nil, to: document, cursor: cursor)
    }

    // MARK: - Endings

    /// Takes no more streams; those that there are go on until their loops end them.
    func drain(_ standing: SessionStanding) {
        joinAllWaiting(standing)
        ticks = []
        hasEnded = true
    }

    /// Ends all streams, and takes no more.
    func close(because reason: StreamEvent.ByeReason, _ standing: SessionStanding) {
        drain(standing)
        for (id, group) in members.all { environment.sink.end(id, because: reason, loops: group.loops) }
        members = StreamMembership()
    }

    /// Makes all waiting streams members, so that they can be ended like these.
    private func joinAllWaiting(_ standing: SessionStanding) {
        for (id, group) in members.all where group.pace != nil {
            joinWaiting(members.takeWaiting(of: id, at: nil), to: id, of: group.key, standing)
        }
    }

    /// The streams of a session that leaves memory.
    struct Passivated {
        let groups: [GroupID: StreamGroup]
        let count: Int
        let index: ChangeIndex
    }

    /// What is needed to go on with these streams; of a session without waiting streams.
    func passivated() -> Passivated {
        Passivated(groups: members.all, count: members.count, index: history.index)
    }
}

/// A stream that is about to join, or waits for storage.
struct Subscriber {
    let request: StreamRequest
    let key: StreamGroupKey
}

/// What tells one event of a dispatch from another.
private struct Rendering: Hashable {
    /// What is seen.
    let sight: Int
    /// What the event's places are relative to; nil in the format that has whole key paths.
    let root: PathSet?
    /// What its cursor says of the paths.
    let pathsName: String?

    init(_ sight: Int, for key: StreamGroupKey) {
        self.sight = sight
        root = key.format == .changes ? nil : key.paths
        pathsName = key.pathsName
    }
}
