import RivuletJSON

/// A passivated session: its streams and its position.
///
/// A session is passivated only if storage and this value together restore exactly the state that its streams have
/// seen. Then the next load can continue under the same incarnation id: cursors stay valid, and the next change
/// continues every stream without a gap.
package struct PassivatedSession {
    let machine: SessionMachine.Passivated
    /// The hash of the whole state as JSON, within this process.
    let stateHash: Int
    /// The values of the state that storage does not have.
    let transients: TransientDocument
    /// The paths that changed in this incarnation; if there are many, the index is coarser than that of a resident
    /// session.
    private let index: ChangeIndex
    /// The time at which its last stream left or a later request came; it has no meaning while a stream watches.
    var unwatchedSince = Duration.zero
    /// True if the session is being loaded; this value is kept until the load has ended.
    var isAwaited = false
    private var groups: [GroupID: StreamGroup]
    /// The approximate memory of the groups' paths, in bytes.
    private var pathBytes: Int
    private var streamCount: Int

    init(
        machine: SessionMachine.Passivated,
        streams: SessionStreams.Passivated,
        stateHash: Int,
        transients: TransientDocument
    ) {
        self.machine = machine
        self.stateHash = stateHash
        self.transients = transients
        index = streams.index.within(entriesMax: Self.indexEntriesMax, bytesMax: Self.indexBytesMax)
        groups = streams.groups
        pathBytes = groups.values.reduce(0) { $0 + $1.key.paths.memoryBytes }
        streamCount = streams.count
    }

    /// The streams that remain.
    var streams: SessionStreams.Passivated {
        SessionStreams.Passivated(groups: groups, count: streamCount, index: index)
    }

    /// The epoch of its history in cursors.
    var visibleEpoch: String { machine.names.visibleEpoch }

    /// The approximate memory of the passivated session, in bytes.
    var memoryBytes: Int {
        Self.bytesMin + transients.bytes + index.bytes + groups.count * StreamGroup.memoryBytes + pathBytes
    }

    private static var bytesMin: Int { 512 }
    /// The most paths in ``index``.
    private static var indexEntriesMax: Int { 16 }
    /// The most bytes of these paths.
    private static var indexBytesMax: Int { 8_192 }

    var isWatched: Bool { !groups.isEmpty }

    /// True if the session has transient state that is kept even without streams.
    ///
    /// A session that storage does not have is kept only while it has streams.
    var hasTransients: Bool { machine.isStored && !transients.isEmpty }

    /// Removes one stream of an event loop from a group.
    mutating func leave(_ group: GroupID, loop: Int) {
        guard var members = groups[group], members.remove(loop: loop) else { return }
        streamCount -= 1
        replace(group, by: members)
    }

    /// Removes all streams on these loops; false if there are none.
    mutating func dropLoops(_ isDropped: (_ loop: Int) -> Bool) -> Bool {
        var all = 0
        for (group, members) in groups {
            var members = members
            let dropped = members.dropLoops(isDropped)
            guard dropped > 0 else { continue }
            all += dropped
            replace(group, by: members)
        }
        streamCount -= all
        return all > 0
    }

    private mutating func replace(_ group: GroupID, by members: StreamGroup) {
        groups[group] = members.count > 0 ? members : nil
        if members.count == 0 { pathBytes -= members.key.paths.memoryBytes }
    }

    /// Ends all streams.
    func end(because reason: StreamEvent.ByeReason, sink: any StreamSink) {
        for (id, group) in groups { sink.end(id, because: reason, loops: group.loops) }
    }
}

/// The earlier incarnation that a loaded session continues.
struct ResumedSession {
    let names: SessionNames
    let position: Cursor.Position
    /// The state that its streams have seen.
    let state: OpaqueBox
    /// The size of that state, or a little more.
    let stateBytes: Int
    let streams: SessionStreams.Passivated

    /// Restores the state; nil if the stored session has changed since, or if its streams have seen another state.
    init?(_ earlier: PassivatedSession, loaded: Session.Beginning) {
        let (machine, isStored) = (earlier.machine, loaded.stored != nil)
        guard machine.isStored == isStored, machine.position.version == loaded.version,
            machine.names.epoch == loaded.epoch || !isStored
        else { return nil }
        guard let laid = loaded.laid, earlier.stateHash == laid.hash else { return nil }
        state = laid.box
        stateBytes = loaded.stateBytes + earlier.transients.bytes
        names = machine.names
        position = machine.position
        streams = earlier.streams
    }
}
