// Owns how a watched session leaves memory and comes back, without its streams noticing.

import RivuletEngine
import RivuletJSON
import RivuletObservation

extension Session {
    /// Whether it is known, without a look at the state, that something holds the session in memory.
    package var isHeld: Bool {
        guard !isIdle else { return false }
        return !isQuiet || hasEndedStreams || !visibleUnlogged.isEmpty || unparkablePosition == visiblePosition
    }

    /// Leaves memory and gives what is needed to come back; nil when something holds the session there.
    ///
    /// What holds it is work under way, or what neither storage nor JSON has of the state: omitted fields that differ from their
    /// defaults, and what transient events did to stored ones.
    package func park() -> ParkedSession? {
        guard !groups.isEmpty, !isHeld else { return nil }
        guard let transients = transientDocument() else {
            // The state is compared once, not again until it changes.
            unparkablePosition = visiblePosition
            return nil
        }
        let parked = ParkedSession(
            epoch: epoch,
            visibleEpoch: visibleEpoch,
            residence: residence,
            position: visiblePosition,
            isStored: isStored,
            stateHash: Self.hash(of: visible),
            transients: transients,
            index: index,
            groups: groups,
            streamCount: streamCount
        )
        leaveMemory()
        return parked
    }

    /// Takes the streams of an earlier residence and goes on under its name; false: this is not the state that they have seen.
    ///
    /// Called before anything else is asked of the session.
    package func resume(_ parked: ParkedSession) -> Bool {
        guard parked.isStored == isStored, parked.position.version == visiblePosition.version,
            parked.epoch == epoch || !isStored, takeBack(parked.transients, hash: parked.stateHash)
        else { return false }
        epoch = parked.epoch
        residence = parked.residence
        headPosition = parked.position
        visiblePosition = parked.position
        tail = ChangeTail(from: parked.position, limits: environment.limits)
        let limits = environment.limits
        index = parked.index.within(entriesMax: limits.indexEntriesMax, bytesMax: limits.indexBytesMax)
        groups = parked.groups
        groupIDs = Dictionary(uniqueKeysWithValues: groups.map { ($1.key, $0) })
        watches = StreamWatches(groups)
        for group in groups.values { if let view = group.key.view { watch(view) } }
        streamCount = parked.streamCount
        return true
    }

    /// What storage does not hold of the visible state; nil when that cannot be given back, or is too much.
    private func transientDocument() -> TransientDocument? {
        let snapshot = StateSnapshot(
            version: visiblePosition.version,
            schema: schema,
            state: persistentJSON(of: visible)
        )
        do throws(SessionError) {
            let loaded = try RestoredState(
                snapshot: isStored ? snapshot : nil,
                entries: [],
                isNew: !isStored,
                engine.definition,
                key
            )
            let document = TransientDocument(of: visible, besides: loaded.state)
            return (document?.bytes ?? 0) <= environment.limits.stateBytesMax ? document : nil
        } catch {
            return nil
        }
    }

    /// Lays what an earlier residence had in memory only over what storage gave; false, with nothing changed: it does not fit.
    private func takeBack(_ transients: TransientDocument, hash: Int) -> Bool {
        guard !transients.isEmpty else { return hash == Self.hash(of: visible) }
        var state = head
        do throws(JSONError) {
            try transients.lay(over: &state)
        } catch {
            return false
        }
        guard hash == Self.hash(of: state) else { return false }
        head = state
        headSize = StateSize(atMost: headSize.bytes + transients.bytes)
        visibleSize = headSize
        return true
    }

    private static func hash(of state: State) -> Int {
        var hasher = Hasher()
        hasher.combine(state.json(at: .root))
        return hasher.finalize()
    }
}
