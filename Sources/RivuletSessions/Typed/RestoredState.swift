import RivuletEngine
import RivuletJSON
import RivuletObservation

/// A state that was restored from the app's default, a snapshot over it and the log's changes after the snapshot.
struct RestoredState<Definition: AppDefinition>: Sendable {
    typealias State = Definition.State

    let state: State
    /// The bytes of the log after the snapshot.
    let tailBytes: Int
    /// True if the session was stored in an earlier schema version.
    ///
    /// A snapshot in this build's schema then precedes any new log entry.
    let isMigrated: Bool
    /// The document that a migration made; nil when there was none.
    let migrated: JSONValue?
    /// The paths that the steps of that migration looked for.
    let findings: MigrationFindings

    private static var firstSchema: UInt32 { 1 }

    /// Decodes and replays a stored session; wrappers are enforced as on every write.
    init(_ stored: StoredSession?, of definition: Definition, key: SessionKey) throws(SessionError) {
        try self.init(snapshot: stored?.snapshot, entries: stored?.tail ?? [], isNew: stored == nil, definition, key)
    }

    /// Decodes a snapshot and replays the entries after it.
    init(
        snapshot: StateSnapshot?,
        entries: [LogEntry],
        isNew: Bool,
        _ definition: Definition,
        _ key: SessionKey
    ) throws(SessionError) {
        var state = definition.defaultState
        let schema = definition.schema
        // A session that began in a later schema has a snapshot, so a session without one is of the first schema.
        let storedSchema = isNew ? schema : snapshot?.schema ?? Self.firstSchema
        guard storedSchema <= schema else {
            throw .unreadable(
                key,
                detail:
                    "it was written in schema version \(storedSchema), and this build knows versions up to \(schema); "
                    + "run the build that wrote it"
            )
        }
        isMigrated = storedSchema < schema
        tailBytes = entries.reduce(0) { $0 + $1.changes.count + $1.event.count }
        if isMigrated {
            var document = try Self.document(snapshot, entries, key)
            findings = try Self.migrate(&document, from: storedSchema, definition, key)
            try Self.merge(document, from: storedSchema, into: &state, key)
            migrated = document
        } else {
            migrated = nil
            findings = MigrationFindings()
            try Self.replay(snapshot, entries, into: &state, key)
        }
        self.state = state
    }

    // MARK: - The schema version of this build

    private static func replay(
        _ snapshot: StateSnapshot?,
        _ entries: [LogEntry],
        into state: inout State,
        _ key: SessionKey
    ) throws(SessionError) {
        if let snapshot {
            do throws(JSONError) {
                try merge(snapshot.state, into: &state)
            } catch {
                throw .unreadable(key, detail: "the snapshot of version \(snapshot.version) does not decode: \(error)")
            }
        }
        for entry in entries {
            do throws(JSONError) {
                try replay(entry.changes, on: &state)
            } catch {
                throw .unreadable(key, detail: "the changes of version \(entry.version) do not decode: \(error)")
            }
        }
    }

    private static func merge(_ document: [UInt8], into state: inout State) throws(JSONError) {
        var reader = JSONReader(document)
        try state._$merge(json: &reader)
        try reader.finish()
    }

    /// Applies the changes of one more entry, including changes of transient fields.
    static func replay(_ entry: LogEntry, onto state: inout State) throws(JSONError) {
        for change in try [StateChange](logJSON: entry.changes) { try replay(change, on: &state) }
    }

    /// Applies the changes of an entry, except for transient ones; an error has the key path, and its offset in `text`.
    private static func replay(_ text: [UInt8], on state: inout State) throws(JSONError) {
        for (index, change) in try [StateChange](logJSON: text).enumerated() where !change.isTransient {
            do throws(JSONError) {
                try replay(change, on: &state)
            } catch {
                let pointers = [["\(index)", "value"], ["\(index)"]].map(JSONPointer.init(tokens:))
                let location = pointers.lazy.compactMap { JSONReader(text).location(at: $0) }.first
                let offset = (location?.offset ?? 0) + error.offset
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
            // If the app no longer has this field, the change is ignored, like such a field of a snapshot. The log
            // keeps the change.
            guard State.jsonSchema.accepts(path: path.tokens[...], checksIDs: false) else { return }
            throw error
        }
        try reader.finish()
    }

    // MARK: - An earlier schema version

    private static func document(
        _ snapshot: StateSnapshot?,
        _ entries: [LogEntry],
        _ key: SessionKey
    ) throws(SessionError) -> JSONValue {
        var version = snapshot?.version ?? 0
        do throws(JSONError) {
            var document = try StoredDocument(snapshot?.state)
            for entry in entries {
                version = entry.version
                for change in try [StateChange](logJSON: entry.changes) where !change.isTransient {
                    try document.apply(change)
                }
            }
            return document.value
        } catch {
            throw .unreadable(key, detail: "its document cannot be rebuilt at version \(version): \(error)")
        }
    }

    private static func migrate(
        _ document: inout JSONValue,
        from schema: UInt32,
        _ definition: Definition,
        _ key: SessionKey
    ) throws(SessionError) -> MigrationFindings {
        do throws(MigrationError) {
            return try definition.migrations.migrate(&document, from: Int(schema))
        } catch {
            throw .unreadable(
                key,
                detail: "the migration from schema version \(error.version) failed: \(error.reason)"
            )
        }
    }

    /// Returns the paths that the migration's steps look for in a stored session; a session of the present schema
    /// version has none.
    ///
    /// - Returns: The paths; nil if the session cannot be migrated.
    static func findings(in stored: StoredSession, of definition: Definition, _ key: SessionKey) -> MigrationFindings? {
        let schema = stored.snapshot?.schema ?? firstSchema
        guard schema < definition.schema else { return MigrationFindings() }
        do throws(SessionError) {
            var document = try document(stored.snapshot, stored.tail, key)
            return try migrate(&document, from: schema, definition, key)
        } catch {
            // The session's own load reports the error.
            return nil
        }
    }

    private static func merge(
        _ document: JSONValue,
        from schema: UInt32,
        into state: inout State,
        _ key: SessionKey
    ) throws(SessionError) {
        do throws(JSONError) {
            try merge(document.jsonBytes(), into: &state)
        } catch {
            throw .unreadable(
                key,
                detail: "its document of schema version \(schema) does not decode after its migration: \(error)"
            )
        }
    }
}

extension StoredSession {
    /// True if there is a snapshot with all fields of the build that wrote it.
    ///
    /// Early builds began a session with no snapshot, or with an empty one.
    var hasWholeSnapshot: Bool { snapshot.map { $0.state != Array("{}".utf8) } ?? false }
}

extension AppDefinition {
    /// The schema version as storage keeps it.
    var schema: UInt32 { UInt32(clamping: schemaVersion) }
}
