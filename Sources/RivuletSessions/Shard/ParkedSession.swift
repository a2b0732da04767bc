import RivuletJSON

/// The streams of a session that left memory, and where they stand.
///
/// It is parked only when storage and what is kept here give back exactly the state that its streams have seen, so that the next
/// residence may go on under the name of this one: cursors stay good, and the next change continues every stream without a gap.
package struct ParkedSession {
    let machine: SessionMachine.Passivated
    /// The hash of the whole state as JSON, within this process.
    let stateHash: Int
    /// What storage does not have of the state.
    let transients: TransientDocument
    /// What changed in this incarnation, less finely than before.
    private let index: ChangeIndex
    /// When its last stream left, or a request came later; of no meaning while it is watched.
    var unwatchedSince = Duration.zero
    /// Whether the session is being loaded, which takes this.
    var isAwaited = false
    private var groups: [GroupID: StreamGroup]
    /// What the paths of the groups take of memory, roughly.
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

    /// The streams that are there still.
    var streams: SessionStreams.Passivated {
        SessionStreams.Passivated(groups: groups, count: streamCount, index: index)
    }

    /// The name of its history in cursors.
    var visibleEpoch: String { machine.names.visibleEpoch }

    /// What it takes of memory, roughly.
    var memoryBytes: Int {
        Self.bytesMin + transients.bytes + index.bytes + groups.count * StreamGroup.memoryBytes + pathBytes
    }

    private static var bytesMin: Int { 512 }
    /// The most paths of which it keeps when they last changed.
    private static var indexEntriesMax: Int { 16 }
    /// The most bytes that those paths take.
    private static var indexBytesMax: Int { 8_192 }

    var isWatched: Bool { !groups.isEmpty }

    /// Whether anything is lost with it when nobody watches: a session that storage does not know is kept for its streams only.
    var hasTransients: Bool { machine.isStored && !transients.isEmpty }

    /// Takes back one membership of that loop.
    mutating func leave(_ group: GroupID, loop: Int) {
        guard var members = groups[group] else { return }
        members.remove(loop: loop)
        streamCount -= 1
        groups[group] = members.count > 0 ? members : nil
        if members.count == 0 { pathBytes -= members.key.paths.memoryBytes }
    }

    /// Ends all streams.
    func end(because reason: StreamEvent.ByeReason, sink: any StreamSink) {
        for (id, group) in groups { sink.end(id, because: reason, loops: group.loops) }
    }
}

/// The earlier incarnation as which a session that was loaded goes on.
struct ResumedSession {
    let names: SessionNames
    let position: Cursor.Position
    /// The state that its streams have seen.
    let state: OpaqueBox
    /// The size of that state, or a little more.
    let stateBytes: Int
    let streams: SessionStreams.Passivated

    /// Makes the state again; nil: something was written between, or this is not the state that the streams have seen.
    init?(_ earlier: ParkedSession, loaded: Session.Beginning) {
        let (machine, isStored) = (earlier.machine, loaded.stored != nil)
        guard machine.isStored == isStored, machine.position.version == loaded.version,
            machine.names.epoch == loaded.epoch || !isStored
        else { return nil }
        do throws(JSONError) {
            let transients = earlier.transients
            state = try transients.isEmpty ? loaded.box : loaded.state.lay(transients, over: loaded.box)
            stateBytes = loaded.stateBytes + transients.bytes
        } catch {
            return nil
        }
        guard earlier.stateHash == loaded.state.hash(of: state) else { return nil }
        names = machine.names
        position = machine.position
        streams = earlier.streams
    }
}

extension SessionState {
    /// The hash of the whole state as JSON, within this process.
    func hash(of state: OpaqueBox) -> Int {
        var hasher = Hasher()
        hasher.combine(json(at: .root, of: state))
        return hasher.finalize()
    }
}
