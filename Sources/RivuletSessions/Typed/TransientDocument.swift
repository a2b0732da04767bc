import RivuletJSON
import RivuletObservation

/// The places of a state that storage does not have and that differ from what loading gives, as JSON.
///
/// A place within an element, an optional value or a case's payload is kept with the whole collection or value.
struct TransientDocument {
    private var values: [(path: JSONPointer, json: [UInt8])] = []

    /// Takes down in what a state differs from the same one as loading gives it; nil: in what no JSON has, or what is stored.
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

    /// What it takes of memory, roughly.
    var bytes: Int { values.reduce(0) { $0 + $1.json.count + 128 } }

    /// Writes what it has into a state that was loaded.
    func lay(over state: inout some ObservableState) throws(JSONError) {
        for (path, json) in values {
            var reader = JSONReader(json, pointer: path.description)
            try state._$apply(.replace, at: path.tokens[...], index: nil, json: &reader)
            try reader.finish()
        }
    }
}
