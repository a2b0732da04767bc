import RivuletEngine
import RivuletJSON
import RivuletObservation

/// The states with which a session begins: the stored state with its size, and the state of its earlier incarnation.
struct LoadedState<Definition: AppDefinition>: Sendable {
    let restored: RestoredState<Definition>
    /// The size of the state in bytes, or a little more.
    let stateBytes: Int
    /// The stored state with the kept values of the earlier incarnation, and its hash.
    ///
    /// Nil if no values were kept, or if they do not fit the state.
    let laid: (state: Definition.State, hash: Int)?

    init(
        _ stored: StoredSession?,
        of engine: EventEngine<Definition>,
        _ key: SessionKey,
        besides transients: TransientDocument?
    ) throws(SessionError) {
        let restored = try RestoredState(stored, of: engine.definition, key: key)
        self.restored = restored
        // The stored bytes may not show the size: a migration may have changed the document, and no document has the
        // transient fields of elements.
        let isMeasured = restored.isMigrated || (stored != nil && engine.hasTransientElements)
        let loadedBytes = (stored?.snapshot?.state.count ?? 0) + restored.tailBytes
        stateBytes = isMeasured ? restored.state.jsonBytes().count : engine.defaultStateBytes + loadedBytes
        laid = transients.flatMap { Self.lay($0, over: restored.state) }
    }

    private static func lay(
        _ transients: TransientDocument,
        over state: Definition.State
    ) -> (state: Definition.State, hash: Int)? {
        var state = state
        do throws(JSONError) {
            try transients.lay(over: &state)
            return (state, state.wholeHash)
        } catch {
            return nil
        }
    }
}

extension ObservableState {
    /// The hash of the whole state as JSON, within this process.
    var wholeHash: Int {
        var hasher = Hasher()
        hasher.combine(json(at: .root))
        return hasher.finalize()
    }
}
