import RivuletEngine
import RivuletJSON
import RivuletObservation

/// Writes and reads a stored half: a tracked state by its fields, without what is transient or omitted; any other type by its Codable.
enum StateDocument {
    /// Writes a document.
    ///
    /// - Throws: ``StatePersistenceError/unrepresentable`` for what JSON cannot carry.
    static func encode<State: PersistentState>(_ state: State) throws(StatePersistenceError) -> [UInt8] {
        var writer = JSONWriter(includesTransient: false)
        if let state = state as? any JSONCodable {
            state.encodeJSON(into: &writer)
        } else {
            CodableJSON.encode(state, into: &writer)
        }
        guard !writer.hasUnrepresentableNumber else { throw .unrepresentable }
        return writer.bytes
    }

    /// Reads a document; a tracked state keeps of `standard` what the document does not mention.
    static func decode<State: PersistentState>(_ document: [UInt8], over standard: State) throws(JSONError) -> State {
        var reader = JSONReader(document)
        let state = try read(State.self, over: standard, from: &reader)
        try reader.finish()
        return state
    }

    private static func read<State: PersistentState>(
        _ type: State.Type,
        over standard: State,
        from reader: inout JSONReader
    ) throws(JSONError) -> State {
        if let standard = standard as? any ObservableState {
            if let state = try merged(standard, from: &reader) as? State { return state }
        } else if let type = type as? any JSONCodable.Type {
            if let state = try type.init(json: &reader) as? State { return state }
        }
        return try CodableJSON.decode(State.self, from: &reader)
    }

    private static func merged<Tracked: ObservableState>(
        _ standard: Tracked,
        from reader: inout JSONReader
    ) throws(JSONError) -> Tracked {
        var state = standard
        try state._$merge(json: &reader)
        return state
    }
}
