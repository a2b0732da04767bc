// Owns the HTTP answer to each error of a session, of storage and of JSON.

import RivuletAccess
import RivuletEngine
import RivuletHTTP
import RivuletJSON
import RivuletObservation
import RivuletSessions

extension Problem {
    /// 503: too many bytes already wait for clients that do not take them.
    static var heldBytesFull: Problem { Problem(.overloaded("bytes that wait for readers (heldBytesMax)")) }

    /// The answer to a refused request of a session.
    init(_ error: SessionError) {
        switch error {
        case .notFound(let key):
            self.init(
                .sessionNotFound,
                "app \"\(key.app)\" has no session \"\(key.id)\"; create it with PUT, or, where the app makes sessions on demand, by dispatching to it"
            )
        case .exists(let key):
            self.init(
                .sessionExists,
                "session \"\(key.id)\" exists already; choose another id, or leave it out for a fresh one"
            )
        case .deleting(let key):
            self.init(
                .sessionBeingDeleted,
                "session \"\(key.id)\" is being deleted; try again",
                fields: [HTTPField("Retry-After", "1")]
            )
        case .body(let error):
            self.init(error)
        case .internalEvent(let name, let index):
            let pointer = index.map { "/\($0)" }
            let location = pointer.map { " at \($0)" } ?? ""
            self.init(
                .internalEvent,
                "the event\(location), \"\(name)\", is internal: only the app dispatches it; nothing has changed",
                errors: pointer.map { [BodyError(pointer: $0, detail: "internal event")] } ?? []
            )
        case .notGranted(let name, let index):
            self = .notGranted(Need(.dispatch, event: name))
            errors = index.map { [BodyError(pointer: "/\($0)", detail: "this event is not granted")] } ?? []
        case .denied(let reason, let index):
            let errors = index.map { [BodyError(pointer: "/\($0)", detail: reason)] } ?? []
            self.init(.notGranted, reason, errors: errors)
        case .rejected(let message):
            self.init(.eventRejected, message)
        case .rejectedInArray(let refused):
            let pointer = "/\(refused.index)"
            self.init(
                .eventRejected,
                "the event at \(pointer), \"\(refused.eventName)\", was rejected, and the whole array with it; nothing has changed: "
                    + refused.rejection.message,
                errors: [BodyError(pointer: pointer, detail: refused.rejection.message)]
            )
        case .reducerFailed(let eventName):
            self.init(
                .appFailed,
                "the app failed at the event \"\(eventName)\", which is an error of the app and is logged; nothing has changed"
            )
        case .coerced(let values):
            self.init(
                .coercionRefused,
                "strict=1 refuses coercions, and these values would be coerced; nothing has changed",
                errors: values.map { value in
                    BodyError(
                        pointer: value.path,
                        detail: "\(String(decoding: value.from, as: UTF8.self)) would become "
                            + String(decoding: value.to, as: UTF8.self)
                    )
                }
            )
        case .unrepresentableNumber:
            self.init(
                .noJSONForm,
                "the event leads to a number that is not finite, which JSON cannot hold; nothing has changed"
            )
        case .noValue(let path):
            self.init(.valueNotFound, "the state has no value at \"\(path)\"")
        case .noView(let name):
            self.init(.viewNotFound, "the app has no view \"\(name)\"")
        case .noElement(let path):
            self.init(
                .valueNotFound,
                "the state has no value at \"\(path)\"; elements are addressed by their id, not by position"
            )
        case .noVersion(let version, let current):
            self.init(.versionNotFound, "there is no version \(version) yet; the session stands at version \(current)")
        case .versionGone(let version, let oldest):
            self.init(
                .versionGone,
                "version \(version) is no longer kept; the oldest one is \(oldest)",
                members: [("oldest", Array("\(oldest)".utf8))]
            )
        case .precondition(let mismatch, let current):
            self.init(
                .preconditionFailed,
                "\(Self.reason(of: mismatch)); it stands at \(current.cursor)",
                members: [("cursor", JSONValue.string("\(current.cursor)").json)]
                    + (current.value.isEmpty ? [] : [("value", current.value)]),
                fields: [HTTPField("ETag", current.cursor.tag)]
            )
        case .keyUnderWay(let key):
            self.init(
                .keyInUse,
                "the request with the Idempotency-Key \(Self.quoted(key)) is still being handled; try again",
                fields: [HTTPField("Retry-After", "1")]
            )
        case .keyReused(let key):
            self.init(
                .keyReused,
                "the Idempotency-Key \(Self.quoted(key)) was used for another request; nothing has changed, choose another key"
            )
        case .keysFull(let key, let seconds):
            self.init(
                .quotaExceeded,
                "session \"\(key.id)\" has as many idempotency records as it may (idempotencyRecordsMax, idempotencyRecordBytesMax); nothing has changed. "
                    + "Come back in \(seconds) s, or send no Idempotency-Key",
                members: [("violated-policies", JSONValue.array([.string("idempotency-records")]).json)],
                fields: [HTTPField("Retry-After", "\(seconds)")]
            )
        case .overloaded(let what):
            self.init(.overloaded, "full: \(what); try again", fields: [HTTPField("Retry-After", "1")])
        case .stateFull(let key, let limitBytes):
            self.init(
                .stateFull,
                "the state of session \"\(key.id)\" would be larger than \(limitBytes) bytes as JSON (stateBytesMax); nothing "
                    + "has changed. Remove something from it first"
            )
        case .storage(let error):
            self.init(error)
        case .unreadable(let key, let detail):
            self.init(
                .sessionUnreadable,
                "session \"\(key.id)\" cannot be read: \(detail). Other sessions are not affected; nothing has changed. "
                    + "An operator can run rivulet check --repair, or restore a backup"
            )
        case .draining:
            self.init(.serverStopping, "the server is stopping; try again", fields: [HTTPField("Retry-After", "1")])
        case .notServing: self = .ownerUnavailable
        }
        if status == 500 { hasHiddenCause = true }
    }

    /// The reason why a condition does not hold, as far as cursors show it.
    private static func reason(of mismatch: CursorMismatch) -> String {
        switch mismatch {
        case .moved: "the session has moved on"
        case .ahead: "the session does not have this version yet"
        case .reloaded:
            "the session was loaded anew since this cursor, and its transient values may have changed "
                + "(the short form \"epoch.version\" compares stored versions only)"
        case .otherHistory:
            "the cursor is from another history of the session, or from before a deployment that changed the shape of the app's state"
        case .noCursor: "no tag of the condition is a cursor"
        }
    }

    /// The idempotency key as its sender wrote it; the key of a line has the line's number after a line feed.
    private static func quoted(_ key: String) -> String {
        let parts = key.split(separator: "\n")
        return "\"\(parts.first ?? "")\"" + (parts.count > 1 ? " in line \(parts[1])" : "")
    }

    /// The answer to a storage error; file paths and SQL are for the log only.
    init(_ error: StorageError) {
        switch error {
        case .unavailable:
            self.init(
                .storageUnavailable,
                "storage is unavailable, nothing has changed; try again. The server's log has the cause under the trace_id",
                fields: [HTTPField("Retry-After", "1")]
            )
        case .indeterminate:
            self.init(
                .storageIndeterminate,
                "storage failed while writing; the change may or may not be stored, read before you retry. The server's log has the "
                    + "cause under the trace_id"
            )
        case .full:
            self.init(.diskFull, "the disk is full, nothing has changed; an operator has to free some space")
        case .memoryFull(let limitBytes):
            self.init(
                .memoryFull,
                "the sessions take all \(limitBytes) bytes that they may (MemoryStorageLimits.bytesMax), nothing has changed; delete "
                    + "sessions, or start the server with --data"
            )
        case .quota(let excess):
            self.init(.quota, "\(excess). Nothing has changed", members: [("quota", excess.json)])
        case .tooLarge(let limitBytes):
            self.init(
                .changeTooLarge,
                "the change is larger than storage takes (\(limitBytes) bytes); nothing has changed"
            )
        case .corrupt(nil, _):
            self.init(
                .storageDamaged,
                "the storage is damaged. Nothing has changed. An operator has to stop the server and restore the data folder from a backup"
            )
        case .corrupt(let key?, _):
            self.init(
                .sessionUnreadable,
                "the stored session \"\(key.id)\" is damaged. Other sessions are not affected; nothing has changed. "
                    + "An operator can run rivulet check --repair, or restore a backup. A session that is not needed can be deleted"
            )
        case .incompatible:
            self.init(
                .storageIncompatible,
                "storage does not fit this server; the server's log has the cause under the trace_id"
            )
        case .closed:
            self.init(.serverStopping, "the server is stopping; try again", fields: [HTTPField("Retry-After", "1")])
        }
        switch error {
        case .tooLarge, .memoryFull, .quota, .closed: break
        case .unavailable, .indeterminate, .full, .corrupt, .incompatible: hasHiddenCause = true
        }
    }

    /// The answer to a body that is not JSON (400), or does not decode (422).
    init(_ error: JSONError) {
        self.init(
            error.isMalformed ? .malformedBody : .invalidBody,
            error.description,
            errors: [BodyError(pointer: error.pointer, detail: error.detail)]
        )
    }
}

extension QuotaExcess {
    /// The document `{"scope":…,"measure":…,"limit":…}`.
    fileprivate var json: [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        writer.key("scope")
        writer.string(scope.rawValue)
        writer.key("measure")
        writer.string(measure.rawValue)
        writer.key("limit")
        writer.integer(limit)
        writer.endObject()
        return writer.bytes
    }
}

extension JSONValue {
    /// The value's compact bytes.
    var json: [UInt8] {
        var writer = JSONWriter()
        encodeJSON(into: &writer)
        return writer.bytes
    }
}
