// Owns the JSON documents about sessions and dispatches.

import RivuletJSON
import RivuletObservation
import RivuletSessions

extension DispatchAnswer {
    /// The answer of <Documentation/HTTP.md#dispatch>.
    var json: [UInt8] { json(tag: cursor.tag) }

    /// The same document, made with the cursor's tag, which the answer's fields have too.
    func json(tag: String) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.key(known: "version")
        writer.integer(version)
        writer.key(known: "cursor")
        writer.literal(tag)
        writer.key(known: "durable")
        writer.bool(isDurable)
        writer.key(known: "changes")
        if let changesJSON {
            writer.raw(changesJSON)
        } else {
            writer.beginArray()
            for change in changes { change.encodeJSON(into: &writer) }
            writer.endArray()
        }
        writer.writeCoerced(coerced)
        writer.endObject()
        return writer.bytes
    }

    /// The same document without changes and coercions, for a line of a client that prefers a minimal answer.
    var minimalJSON: [UInt8] {
        var writer = JSONWriter(capacity: 96)
        writer.beginObject()
        writer.key("version")
        writer.integer(version)
        writer.key("cursor")
        writer.string("\(cursor)")
        writer.key("durable")
        writer.bool(isDurable)
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes the values that wrappers changed, if any.
    fileprivate mutating func writeCoerced(_ values: [CoercedValue]) {
        guard !values.isEmpty else { return }
        key("coerced")
        beginArray()
        for value in values {
            beginObject()
            key("path")
            string(value.path)
            key("from")
            raw(value.from)
            key("to")
            raw(value.to)
            endObject()
        }
        endArray()
    }
}

extension SessionInfo {
    /// The document of a session, for the answers to a read and to a creation.
    ///
    /// `coerced` are the values that wrappers changed in the state of a new session.
    func json(coerced: [CoercedValue] = []) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.key("app")
        writer.string(key.app)
        writer.key("id")
        writer.string(key.id)
        writer.key("epoch")
        writer.string(epoch)
        writer.key("version")
        writer.integer(version)
        writer.key("created")
        writer.string(Timestamp.text(milliseconds: created))
        writer.key("updated")
        writer.string(Timestamp.text(milliseconds: updated))
        writer.key("streams")
        writer.integer(streams)
        writer.key("retained")
        writer.beginObject()
        writer.key("from")
        writer.integer(retainedFrom)
        writer.key("to")
        writer.integer(version)
        writer.endObject()
        writer.writeCoerced(coerced)
        writer.endObject()
        return writer.bytes
    }
}

extension LogEntry {
    /// Writes one version of the log.
    ///
    /// Changes are written as they are on disk: values have no transient fields, and a change of transient fields only
    /// is marked. Source: <Documentation/HTTP.md#resources>.
    func encodeJSON(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("version")
        writer.integer(version)
        writer.key("time")
        writer.string(Timestamp.text(milliseconds: time))
        if let by {
            writer.key("by")
            writer.string(by)
        }
        // An entry for a caller that may see a part of the state has no event, and no changes if none is visible.
        if !event.isEmpty {
            writer.key("event")
            writer.raw(event)
        }
        if !changes.isEmpty {
            writer.key("changes")
            writer.raw(changes)
        }
        writer.endObject()
    }
}

extension [SessionSummary] {
    /// The document of a list of sessions; `next` is the last id if there are more sessions.
    func json(of app: any HostedApp, next: String?) -> [UInt8] {
        var writer = JSONWriter(capacity: 128 + count * 160)
        writer.beginObject()
        writer.key("sessions")
        writer.beginArray()
        for session in self {
            writer.beginObject()
            writer.key("id")
            writer.string(session.id)
            writer.key("epoch")
            writer.string(app.visibleEpoch(of: session.epoch))
            writer.key("version")
            writer.integer(session.version)
            writer.key("created")
            writer.string(Timestamp.text(milliseconds: session.created))
            writer.key("updated")
            writer.string(Timestamp.text(milliseconds: session.updated))
            writer.endObject()
        }
        writer.endArray()
        if let next {
            writer.key("next")
            writer.string(next)
        }
        writer.endObject()
        return writer.bytes
    }
}
