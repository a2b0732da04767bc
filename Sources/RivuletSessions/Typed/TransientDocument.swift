import RivuletJSON
import RivuletObservation

/// The values of a state that storage does not have and that differ from a loaded state, as JSON.
///
/// A value within an element, an optional value or a case's payload is kept with the whole collection or value.
package struct TransientDocument: Sendable {
    private var values: [(path: JSONPointer, json: [UInt8])] = []

    /// Records the differences of a state from the same state after a load.
    ///
    /// The result is nil if the two states differ in an omitted field or in a stored value.
    init?<State: ObservableState & Equatable>(of state: State, besides loaded: State) {
        guard loaded != state else { return }
        do throws(JSONError) {
            for text in State.jsonSchema.transientPaths {
                let path = try JSONPointer(parsing: text)
                let json = state.json(at: path)
                guard json != loaded.json(at: path) else { continue }
                values.append((path, json ?? Array("null".utf8)))
            }
            var restored = loaded
            try lay(over: &restored)
            guard restored == state else { return nil }
        } catch {
            return nil
        }
    }

    var isEmpty: Bool { values.isEmpty }

    /// The approximate memory of the values, in bytes.
    var bytes: Int { values.reduce(0) { $0 + $1.json.count + 128 } }

    /// Writes the recorded values into a loaded state.
    func lay(over state: inout some ObservableState) throws(JSONError) {
        for (path, json) in values {
            var reader = JSONReader(json, pointer: path.description)
            try state._$apply(.replace, at: path.tokens[...], index: nil, json: &reader)
            try reader.finish()
        }
    }
}
