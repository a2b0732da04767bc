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
                for change in try [StateChange](logJSON: entry.changes) where !change.isTransient {
                    try Self.replay(change, on: &state)
                }
            } catch {
                throw .unreadable(key, detail: "the changes of version \(entry.version) do not decode: \(error)")
            }
        }
        self.state = state
        self.tailBytes = tailBytes
    }

    private static func replay(_ change: StateChange, on state: inout State) throws(JSONError) {
        let path = try JSONPointer(parsing: change.path)
        var reader = JSONReader(change.value ?? Array("null".utf8))
        do throws(JSONError) {
            try state._$apply(change.operation, at: path.tokens[...], index: change.index, json: &reader)
        } catch {
            // A field that the app no longer has: the log keeps it, the state goes on without it, as with snapshots.
            guard State.jsonSchema.accepts(path: path.tokens[...]) else { return }
            throw error
        }
        try reader.finish()
    }
}
