import RivuletEngine
import RivuletJSON
import RivuletObservation

/// Writes and reads a stored half.
///
/// A tracked state is written without its transient and omitted fields. Any other type is written in its JSONCodable
/// or Codable form.
enum StateDocument {
    /// Writes a document.
    ///
    /// - Throws: ``StatePersistenceError/unrepresentable`` for values that JSON cannot represent.
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

    /// Reads a document.
    ///
    /// A tracked state keeps the values of `defaultValue` that the document does not have.
    static func decode<State: PersistentState>(_ document: [UInt8], over defaultValue: State) throws(JSONError) -> State
    {
        var reader = JSONReader(document)
        let state = try read(State.self, over: defaultValue, from: &reader)
        try reader.finish()
        return state
    }

    private static func read<State: PersistentState>(
        _ type: State.Type,
        over defaultValue: State,
        from reader: inout JSONReader
    ) throws(JSONError) -> State {
        if let defaultValue = defaultValue as? any ObservableState {
            if let state = try merged(defaultValue, from: &reader) as? State { return state }
        } else if let type = type as? any JSONCodable.Type {
            if let state = try type.init(json: &reader) as? State { return state }
        }
        return try CodableJSON.decode(State.self, from: &reader)
    }

    private static func merged<Tracked: ObservableState>(
        _ defaultValue: Tracked,
        from reader: inout JSONReader
    ) throws(JSONError) -> Tracked {
        var state = defaultValue
        try state._$merge(json: &reader)
        return state
    }
}
