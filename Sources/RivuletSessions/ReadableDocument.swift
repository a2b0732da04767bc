// Part of Rivulet. See README.md for the architecture.
// Owns what streams read values from: a state, or a view of it.

import RivuletEngine
package import RivuletJSON
package import RivuletObservation

/// JSON that is read by key paths, at one moment.
package struct ReadableDocument {
    /// The value at a key path as JSON bytes; nil when there is none.
    package let json: (_ path: JSONPointer) -> [UInt8]?

    /// Reads a document in whatever way.
    package init(_ json: @escaping (_ path: JSONPointer) -> [UInt8]?) {
        self.json = json
    }

    /// Reads a state.
    package init(_ state: some ObservableState) {
        json = { state.json(at: $0) }
    }

    /// Reads a view as it is when it is read.
    init(_ view: some ViewInstance) {
        json = { path in
            var writer = JSONWriter()
            return view.encodeJSON(at: path.tokens[...], into: &writer) ? writer.bytes : nil
        }
    }
}
