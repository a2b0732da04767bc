// Owns the JSON data of snapshots, resets and changes.

package import RivuletBase
import RivuletJSON
package import RivuletObservation

extension StreamEvent {
    /// `{"version":v,"values":{path:value…}}`: a snapshot or, with the reason why a reader has to drop its values, a
    /// reset.
    package static func beginning(
        with document: ReadableDocument,
        at paths: PathSet,
        cursor: Cursor,
        because reason: ResetReason? = nil
    ) -> StreamEvent {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.key(known: "version")
        writer.integer(cursor.position.version)
        if let reason {
            writer.key("reason")
            writer.string(reason.rawValue)
        }
        writer.key("values")
        writer.beginObject()
        for (path, value) in paths.values(in: document) {
            writer.key(path.description)
            writer.raw(value)
        }
        writer.endObject()
        writer.endObject()
        let name = reason == nil ? Name.snapshot : .reset
        return StreamEvent(name: name, cursor: cursor, data: writer.bytes, resetReason: reason)
    }

    /// `{"version":v,"changes":[…]}`.
    package static func change(_ changes: [StateChange], cursor: Cursor) -> StreamEvent {
        // The names in each change take 40 bytes at most, and the names around the changes take 50.
        var writer = JSONWriter(capacity: changes.reduce(64) { $0 + 64 + $1.path.utf8.count + ($1.value?.count ?? 0) })
        writer.beginObject()
        writer.key(known: "version")
        writer.integer(cursor.position.version)
        writer.key(known: "changes")
        writer.beginArray()
        for change in changes { change.encodeJSON(into: &writer) }
        writer.endArray()
        writer.endObject()
        return StreamEvent(name: .change, cursor: cursor, data: writer.bytes)
    }

    /// The event of changes for the streams of a group, in their format.
    ///
    /// `old` is the document that the streams have; nil if they missed changes.
    static func change(
        _ changes: [StateChange],
        for key: StreamGroupKey,
        from old: @autoclosure () -> ReadableDocument?,
        to new: @autoclosure () -> ReadableDocument,
        cursor: Cursor
    ) -> StreamEvent {
        switch key.format {
        case .changes: return change(changes, cursor: cursor)
        case .jsonPatch:
            let root = key.paths.pointers.first ?? .root
            let patch = StatePatch.json(of: changes, at: root, from: old(), to: new())
            return StreamEvent(name: .change, cursor: cursor, data: patch)
        }
    }
}
