// Part of Rivulet. See README.md for the architecture.
// Owns how a watched session leaves memory and comes back, without its streams noticing.

import RivuletEngine
import RivuletObservation

extension Session {
    /// Leaves memory and gives what is needed to come back; nil when something holds the session there.
    ///
    /// What holds it is work under way, or a state that storage would not give back whole: transient and omitted fields that differ
    /// from their defaults, and what transient events did to stored ones.
    package func park() -> ParkedSession? {
        guard isQuiet, !groups.isEmpty, !hasEndedStreams, visibleUnlogged.isEmpty,
            unparkablePosition != visiblePosition
        else { return nil }
        guard isWhatLoadingGives else {
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
            stateHash: stateHash,
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
            parked.epoch == epoch || !isStored, parked.stateHash == stateHash
        else { return false }
        epoch = parked.epoch
        residence = parked.residence
        headPosition = parked.position
        visiblePosition = parked.position
        tail = ChangeTail(
            from: parked.position,
            changesMax: environment.limits.tailChangesMax,
            bytesMax: environment.limits.tailBytesMax
        )
        groups = parked.groups
        groupIDs = Dictionary(uniqueKeysWithValues: groups.map { ($1.key, $0) })
        for group in groups.values { if let view = group.key.view { watch(view) } }
        streamCount = parked.streamCount
        return true
    }

    /// Whether storage holds all there is of the visible state.
    private var isWhatLoadingGives: Bool {
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
            return loaded.state == visible
        } catch {
            return false
        }
    }

    private var stateHash: Int {
        var hasher = Hasher()
        hasher.combine(visible.json(at: .root))
        return hasher.finalize()
    }
}
