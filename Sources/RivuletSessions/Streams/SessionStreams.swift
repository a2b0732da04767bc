import RivuletBase
import RivuletEngine
import RivuletJSON
import RivuletObservation

/// The streams of one session: the groups, their pace, and the data for streams that resume.
///
/// A class, because the sink that it calls may call it back at once.
final class SessionStreams {
    private let key: SessionKey
    private let state: any SessionState
    private let environment: SessionEnvironment
    /// The log reads under way, for streams that resume.
    let reads: LogReads
    private var members: StreamMembership {
        _read { yield unsafe storedMembers }
        _modify { yield unsafe &storedMembers }
    }
    private var history: ChangeHistory {
        _read { yield unsafe storedHistory }
        _modify { yield unsafe &storedHistory }
    }
    private var views: SessionViews {
        _read { yield unsafe storedViews }
        _modify { yield unsafe &storedViews }
    }
    /// Snapshots that streams share if they join at about the same time.
    private var snapshots: SharedSnapshots {
        _read { yield unsafe storedSnapshots }
        _modify { yield unsafe &storedSnapshots }
    }
    // SAFETY: one thread uses the session, and no method of these four values calls the sink or accesses the same value
    // again. Their memory is summed twice in each dispatch, and the exclusivity checks at run time would cost more than
    // the sums.
    @exclusivity(unchecked) private var storedMembers = StreamMembership()
    @exclusivity(unchecked) private var storedHistory: ChangeHistory
    @exclusivity(unchecked) private var storedViews = SessionViews()
    @exclusivity(unchecked) private var storedSnapshots = SharedSnapshots()
    /// The streams that wait for a snapshot of a large state.
    private var waiting = WaitingStreams()
    /// True while a timer to drop snapshots is under way.
    private var forgetsSnapshots = false
    /// The groups with an interval and a timer under way.
    private var ticks: Set<GroupID> = []
    /// The position of the session before the changes that are being published.
    private var positionBefore: Cursor.Position
    /// True if the session takes no more streams.
    private(set) var hasEnded = false
    private var onTick: ((GroupID) -> Void)?
    private var onForget: (() -> Void)?

    /// Begins without a stream, or continues the streams of a passivated session.
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
            unsafe storedHistory = ChangeHistory(from: position, limits: limits)
            return
        }
        unsafe storedHistory = ChangeHistory(from: position, index: earlier.index, limits: limits)
        unsafe storedMembers = StreamMembership(groups: earlier.groups, count: earlier.count)
        for case let view? in earlier.groups.values.map(\.key.view) { _ = watch(view, standing) }
    }

    /// True if no stream watches the session.
    var isEmpty: Bool { members.isEmpty && waiting.count == 0 }

    /// True if no stream waits for storage, and no timer of a group is under way.
    var isQuiet: Bool { reads.count == 0 && ticks.isEmpty }

    /// The number of streams, including streams that wait to be members.
    var count: Int { members.count + waiting.count }

    /// The approximate memory of the streams and of the changes and snapshots kept for them, in bytes.
    var bytes: Int { history.bytes + (views.isEmpty ? 0 : views.bytes) + members.bytes + snapshots.bytes }

    // MARK: - Documents

    /// The view object; nil if no stream has watched the view.
    func view(_ name: String) -> OpaqueBox? { views.view(name) }

    /// Keeps a view up to date from now on; false if the app does not have the view.
    func watch(_ view: String, _ standing: SessionStanding) -> Bool {
        views.watch(view, state, standing, environment.limits)
    }

    /// The current document of a watched view, or of the state if `view` is nil.
    func document(of view: String?, _ standing: SessionStanding) -> ReadableDocument {
        guard let view else { return state.document(of: standing.state) }
        return views.view(view).map { state.document(ofView: $0) } ?? .nothing
    }

    /// The changes of the state that are kept in memory.
    var stateHistory: ChangeHistory { history }

    /// The changes of the state, or of a view, that are kept in memory; nil if no stream has watched the view.
    func history(of view: String?) -> ChangeHistory? {
        guard let view else { return history }
        return views.history(of: view)
    }

    // MARK: - Joining and leaving

    /// True if the session has the most streams that it may have.
    var isFull: Bool { count + reads.count >= environment.limits.streamsPerSessionMax }

    /// Adds a stream and sends it `first`.
    func join(_ subscriber: Subscriber, first: [StreamEvent], _ standing: SessionStanding) {
        let stream = subscriber.request.stream
        let id = members.group(subscriber.key, makeID: environment.makeGroupID)
        let slot = members.add(
            stream,
            to: id,
            at: environment.uptime(),
            position: standing.position,
            // The change after a shared snapshot belongs to the beginning of one stream, and does not delay the
            // members' next change.
            hasGotChange: subscriber.request.resume != nil && first.contains { $0.name == .change }
        )
        if slot == .waiting { scheduleTick(of: id) }
        give(subscriber, first, at: slot, cursor: standing.cursor(of: subscriber.key))
    }

    /// Sends `first` to a stream, which continues as `slot` says.
    func give(_ subscriber: Subscriber, _ first: [StreamEvent], at slot: StreamSlot, cursor: Cursor) {
        environment.sink.join(
            subscriber.request.stream,
            at: slot,
            session: key,
            topic: subscriber.key.topic,
            first: first,
            cursor: cursor,
            resumesAll: subscriber.request.resumesAll
        )
    }

    // MARK: - Snapshots

    /// Adds a stream, which begins with a snapshot or, if there is a reason, with a reset.
    ///
    /// If streams of the group began a moment ago, the stream gets the snapshot that they got, and one change that
    /// leads from it to the current state.
    ///
    /// - Parameters:
    ///   - subscriber: The stream.
    ///   - reason: The reason of the reset; nil for a snapshot.
    ///   - standing: The standing of the session.
    ///   - stateBytes: The size of the state.
    /// - Returns: The job for a work thread; nil if there is none.
    func begin(
        _ subscriber: Subscriber,
        because reason: ResetReason?,
        _ standing: SessionStanding,
        stateBytes: Int
    ) -> SnapshotWriting? {
        let group = subscriber.key
        // No other thread may read a view, because a view is an object.
        let isLarge = stateBytes > environment.limits.turnJSONBytesMax && group.view == nil
        let isCompressed = isLarge && subscriber.request.isCompressed
        let key = SharedSnapshots.Key(group, reason: reason, isCompressed: isCompressed)
        if let shared = sharedBeginning(key, of: group, standing) {
            join(subscriber, first: shared, standing)
            return nil
        }
        guard isLarge else {
            join(subscriber, first: [beginning(key, of: group, because: reason, standing)], standing)
            return nil
        }
        guard waiting.add(subscriber, to: key) else { return nil }
        return SnapshotWriting(
            key: key,
            group: group,
            reason: reason,
            cursor: standing.cursor(of: group),
            state: state.held(standing.state),
            prepare: environment.sink.preparation(isCompressed: isCompressed)
        )
    }

    /// Sends a written snapshot to the streams that wait for it, as many as one turn has time for.
    ///
    /// If `error` is not nil, all these streams are refused instead.
    func didWrite(
        _ event: StreamEvent,
        of writing: SnapshotWriting,
        _ standing: SessionStanding,
        error: SessionStreamError?
    ) -> SnapshotWriting.Rest {
        let (key, group) = (writing.key, writing.group)
        if let error {
            for subscriber in waiting.take(key) { refuse(subscriber.request.stream, with: error) }
            return .nothing
        }
        keep(event, as: key, at: writing.cursor)
        let cursor = standing.cursor(of: group)
        var first = sharedBeginning(key, of: group, standing)
        if first == nil { first = bridge(from: event, to: standing, for: group).map { [event] + $0 } }
        guard let first else { return .again(writing.again(at: cursor, state.held(standing.state))) }
        for subscriber in waiting.take(key, atMost: WaitingStreams.joinsPerTurnMax) {
            join(subscriber, first: first, standing)
        }
        return waiting.has(key) ? .more : .nothing
    }

    /// The snapshot with which streams of the group began a moment ago, and the change from it to the current state;
    /// nil if there is no such snapshot.
    private func sharedBeginning(
        _ key: SharedSnapshots.Key,
        of group: StreamGroupKey,
        _ standing: SessionStanding
    ) -> [StreamEvent]? {
        guard !snapshots.isEmpty else { return nil }
        return snapshots.events(of: key, at: standing.cursor(of: group), now: environment.uptime()) {
            change(after: $0, for: group, standing)
        }
    }

    /// The change that leads from a snapshot to the current state; nil if it is too large or not known.
    private func bridge(
        from event: StreamEvent,
        to standing: SessionStanding,
        for group: StreamGroupKey
    ) -> [StreamEvent]? {
        guard let start = event.cursor, start.epoch == standing.visibleEpoch else { return nil }
        guard start != standing.cursor(of: group) else { return [] }
        return SharedSnapshots.bridge(over: change(after: start.position, for: group, standing), from: event)
    }

    /// Writes the event with which a stream begins now.
    private func beginning(
        _ key: SharedSnapshots.Key,
        of group: StreamGroupKey,
        because reason: ResetReason?,
        _ standing: SessionStanding
    ) -> StreamEvent {
        let cursor = standing.cursor(of: group)
        let event = StreamEvent.beginning(
            with: document(of: group.view, standing),
            at: group.paths,
            cursor: cursor,
            because: reason
        )
        keep(event, as: key, at: cursor)
        return event
    }

    /// Keeps a snapshot for the streams that join in the next moments.
    private func keep(_ event: StreamEvent, as key: SharedSnapshots.Key, at cursor: Cursor) {
        guard !environment.memory.isCrowded, snapshots.keep(event, as: key, at: cursor, now: environment.uptime())
        else { return }
        if !forgetsSnapshots { forgetSnapshots(in: SharedSnapshots.ageMax) }
    }

    /// Sets the closure that is called after old snapshots were dropped; it updates the session's memory account.
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

    func refuse(_ stream: StreamID, with error: SessionStreamError) { environment.sink.refuse(stream, with: error) }

    /// Removes one member on that loop from a group; false if there is no such group.
    func leave(_ group: GroupID, loop: Int) -> Bool {
        guard members.leave(group, loop: loop) else { return false }
        forgetIfEmpty(group)
        return true
    }

    /// Removes all members on these loops from all groups; false if there are none.
    func dropLoops(_ isDropped: (_ loop: Int) -> Bool) -> Bool {
        !members.dropLoops(isDropped).map(forgetIfEmpty).isEmpty
    }

    private func forgetIfEmpty(_ id: GroupID) {
        if members.forgetIfEmpty(id) { ticks.remove(id) }
    }

    // MARK: - Publishing

    /// Records visible changes, and sends each group the changes that it sees, as one event at most.
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

    /// Sends changes to the groups that watch a document; groups that see the same changes get the same event.
    private func tell(
        _ changes: [StateChange],
        of view: String?,
        from old: () -> ReadableDocument,
        _ standing: SessionStanding
    ) {
        guard let paths = members.paths(of: view) else { return }
        if let alike = SinglePathFanOut(changes, watched: paths) {
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
        let all = FanOutPlan(changes, watched: paths, from: old(), to: document(of: view, standing))
        var events: [Rendering: StreamEvent] = [:]
        for (id, projection) in all.seen {
            let seen = all.projections[projection, default: []].map { all.items[$0] }
            tell(id, of: projection, seeing: seen, from: old, standing, &events)
        }
    }

    /// Sends a group the changes that it sees, in one event that all groups with the same changes share.
    private func tell(
        _ id: GroupID,
        of projection: Int,
        seeing changes: @autoclosure () -> [StateChange],
        from old: () -> ReadableDocument,
        _ standing: SessionStanding,
        _ events: inout [Rendering: StreamEvent]
    ) {
        guard let group = dueGroup(id) else { return }
        let rendering = Rendering(projection, for: group.key)
        let event = events[rendering] ?? event(changes(), for: group.key, from: old, standing)
        events[rendering] = event
        environment.sink.deliver(event, to: id, loops: group.loops)
    }

    /// The group; nil if its pace delays the event.
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

    /// Sets the closure that is called when a group's timer has fired; it calls ``tickDidFire(of:_:)`` with the current
    /// standing.
    func onTick(_ body: @escaping (GroupID) -> Void) { onTick = body }

    private func scheduleTick(of id: GroupID) {
        guard let delay = members.nextTick(of: id, at: environment.uptime()) else { return }
        ticks.insert(id)
        environment.schedule(delay) { [weak self] in self?.onTick?(id) }
    }

    /// Sends the members of a group the changes since their last event, and makes waiting streams members.
    ///
    /// - Returns: False if the group is gone.
    func tickDidFire(of id: GroupID, _ standing: SessionStanding) -> Bool {
        ticks.remove(id)
        guard !hasEnded, let key = members[id]?.key else { return false }
        let now = environment.uptime()
        // The members get their event before waiting streams join. Each waiting stream gets a change of its own, which
        // leads to the same position.
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

    /// Makes waiting streams members; true if some of them were sent an event.
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

    /// The change that leads from a cursor of this incarnation to the current position; nil if a reset is needed.
    ///
    /// The answer is empty if the stream has missed nothing.
    func events(after cursor: Cursor, for key: StreamGroupKey, _ standing: SessionStanding) -> [StreamEvent]? {
        guard cursor.position != standing.position else { return [] }
        let event = change(after: cursor.position, for: key, standing)
        return event?.name == .reset ? nil : event.map { [$0] } ?? []
    }

    /// The change or reset that leads a member from a position of this incarnation to the current one; nil if nothing
    /// changed.
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

    /// Takes no more streams; the existing streams continue until their loops end them.
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

    /// Makes all waiting streams members, so that they end in the same way as members.
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

    /// The data with which these streams continue later, for a session without waiting streams.
    func passivated() -> Passivated {
        Passivated(groups: members.all, count: members.count, index: history.index)
    }
}
