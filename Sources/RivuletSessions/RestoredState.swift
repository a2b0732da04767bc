// Part of Rivulet. See README.md for the architecture.
// Owns how a state comes back from what storage holds.

import RivuletJSON
import RivuletObservation

/// A snapshot over the app's default, and the log's changes after it.
struct RestoredState<State: ObservableState> {
    let state: State
    /// The bytes of the log after the snapshot.
    let tailBytes: Int

    /// Decodes and replays; wrappers hold at this entry like at any other.
    init(_ stored: StoredSession?, default initial: State, key: SessionKey) throws(SessionError) {
        var state = initial
        var tailBytes = 0
        if let snapshot = stored?.snapshot {
            do throws(JSONError) {
                var reader = JSONReader(snapshot.state)
                try state._$merge(json: &reader)
                try reader.finish()
            } catch {
                throw .unreadable(key, detail: "the snapshot of version \(snapshot.version) does not decode: \(error)")
            }
        }
        for entry in stored?.tail ?? [] {
            do throws(JSONError) {
                tailBytes += entry.changes.count + entry.event.count
                try Self.replay(entry.changes, on: &state)
            } catch {
                throw .unreadable(key, detail: "the changes of version \(entry.version) do not decode: \(error)")
            }
        }
        self.state = state
        self.tailBytes = tailBytes
    }

    /// Makes the changes of an entry again; errors name the key path, and the byte in the text of all changes.
    private static func replay(_ text: [UInt8], on state: inout State) throws(JSONError) {
        for (index, change) in try [StateChange](logJSON: text).enumerated() where !change.isTransient {
            do throws(JSONError) {
                try replay(change, on: &state)
            } catch {
                let pointers = [["\(index)", "value"], ["\(index)"]].map(JSONPointer.init(tokens:))
                let place = pointers.lazy.compactMap { JSONReader(text).place(at: $0) }.first
                let offset = (place?.offset ?? 0) + error.offset
                throw JSONError(kind: error.kind, offset: offset, pointer: error.pointer, detail: error.detail)
            }
        }
    }

    private static func replay(_ change: StateChange, on state: inout State) throws(JSONError) {
        let path = try JSONPointer(parsing: change.path)
        var reader = JSONReader(change.value ?? Array("null".utf8), pointer: change.path)
        do throws(JSONError) {
            try state._$apply(change.operation, at: path.tokens[...], index: change.index, json: &reader)
        } catch {
            // A field that the app no longer has: the log keeps it, the state goes on without it, as with snapshots.
            guard State.jsonSchema.accepts(path: path.tokens[...], checksIDs: false) else { return }
            throw error
        }
        try reader.finish()
    }
}
