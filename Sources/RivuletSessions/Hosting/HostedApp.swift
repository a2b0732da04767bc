package import RivuletEngine
package import RivuletJSON
import RivuletObservation
import RivuletSchema

/// A session that was made of what storage has.
package enum MadeSession {
    /// The session.
    case made(Session)
    /// None yet: its document lacks paths that a migration step needs, and no search has told whether other sessions have them.
    case lacking(Set<MigrationPath>)
}

/// An app that sessions can be made of.
package protocol HostedApp: Sendable {
    var name: String { get }
    var sessionPolicy: SessionPolicy { get }
    /// Whether the state's schema can have a value at this path.
    func accepts(_ path: JSONPointer) -> Bool
    /// Whether the view's schema can have a value at this path; nil stands for the state.
    ///
    /// With `wildcards` a token `*` stands for any one token.
    func accepts(_ path: JSONPointer, view: String?, wildcards: Bool) -> Bool
    /// What all sessions share.
    var shared: SharedResources { get }
    /// The names of the app's views, in the order of their declaration.
    var viewNames: [String] { get }
    /// Whether a value can be written at this path.
    func isBound(_ path: JSONPointer) -> Bool
    /// The key paths that can be written, in the order of their declaration; a token `*` stands for the id of an element.
    var boundPaths: [String] { get }
    /// What keeps the app from being hosted, in words for its author; nil when nothing does.
    var fault: String? { get }
    /// The least `residentBytesMax` with which an event can make the state of a new session larger.
    var residentBytesLeast: Int { get }
    /// Writes the app's description: schemas, fields, events, bindings. It is the same each time but for defaults that are made anew.
    func encodeDescription(into writer: inout JSONWriter)
    /// The types of the app's state and events.
    var shape: AppShape { get }
    /// The state, the events and the key paths as TypeScript types.
    func typeScript() -> String
    /// The name in cursors of a history that storage knows by this epoch.
    func visibleEpoch(of epoch: String) -> String
    /// Reads what storage has of a session, as it would be when the session is loaded.
    ///
    /// - Throws: `SessionError.unreadable`.
    func check(_ key: SessionKey, stored: StoredSession) throws(SessionError) -> StoredSessionFindings
    /// What the steps of a migration look for in a session, also where what they make of it cannot be read.
    func migrationFindings(_ key: SessionKey, stored: StoredSession) -> MigrationFindings
    /// Makes the session as storage has it, or a new one whose history has the name `newEpoch`; as the earlier incarnation and with its
    /// streams, where its state is the one that they have seen.
    ///
    /// - Throws: `SessionError.unreadable` when the stored document is not this app's.
    func makeSession(
        _ key: SessionKey,
        stored: StoredSession?,
        newEpoch: String,
        earlier: ParkedSession?,
        environment: SessionEnvironment
    ) throws(SessionError) -> MadeSession
    /// Looks in the stored sessions for paths that a migration step needs, so that the session that lacks them can be made, or refused.
    ///
    /// The reply comes on another thread.
    func search(
        for paths: Set<MigrationPath>,
        environment: SessionEnvironment,
        reply: @escaping StorageReply<Void>
    )
}

/// The hosting of one app definition.
///
/// A class, because each request hands it on.
package final class AppHost<Definition: AppDefinition>: HostedApp {
    package let name: String
    private let engine: EventEngine<Definition>
    private let epochs: VisibleEpoch
    private let acceptedPaths = AcceptedPaths()
    private let migrations: MigrationSearch
    package let shared: SharedResources

    package init(_ definition: Definition) {
        name = definition.name
        engine = EventEngine(definition)
        epochs = VisibleEpoch(definition)
        migrations = MigrationSearch(app: definition.name) { key, stored in
            RestoredState.findings(in: stored, of: definition, key)
        }
        shared = SharedResources(of: definition)
    }

    package var sessionPolicy: SessionPolicy { engine.definition.sessionPolicy }

    package func accepts(_ path: JSONPointer) -> Bool {
        accepts(path, view: nil, wildcards: false)
    }

    package func isBound(_ path: JSONPointer) -> Bool { engine.bindings.contains(path) }

    package var boundPaths: [String] { engine.bindings.paths }

    package var fault: String? {
        engine.bindings.fault(in: Definition.State.jsonSchema) ?? views.fault() ?? shared.fault
    }

    package var residentBytesLeast: Int {
        SessionMemory.bytesMin + SessionMemory.eventRoomBytes + engine.defaultStateBytes
    }

    package func accepts(_ path: JSONPointer, view: String?, wildcards: Bool) -> Bool {
        acceptedPaths.contains(path, view: view, wildcards: wildcards) {
            find(path.tokens[...], view: view, wildcards: wildcards)
        }
    }

    private func find(_ path: ArraySlice<String>, view: String?, wildcards: Bool) -> Bool {
        guard let view else { return Definition.State.jsonSchema.accepts(path: path, wildcards: wildcards) }
        return views.contains { $0.name == view && $0.schema.accepts(path: path, wildcards: wildcards) }
    }

    package var viewNames: [String] { views.map(\.name) }

    private var views: [StateView<Definition.State>] { engine.views }

    package func makeSession(
        _ key: SessionKey,
        stored: StoredSession?,
        newEpoch: String,
        earlier: ParkedSession?,
        environment: SessionEnvironment
    ) throws(SessionError) -> MadeSession {
        let restored: RestoredState<Definition>
        do throws(SessionError) {
            restored = try RestoredState(stored, of: engine.definition, key: key)
        } catch {
            // A value that no step has found may be why its document does not decode.
            guard let findings = stored.map({ migrationFindings(key, stored: $0) }) else { throw error }
            let lacking = try migrations.judge(findings, of: key, isStored: true)
            guard lacking.isEmpty else { return .lacking(lacking) }
            throw error
        }
        let lacking = try migrations.judge(restored.findings, of: key, isStored: true)
        guard lacking.isEmpty else { return .lacking(lacking) }
        return .made(
            Session(
                key,
                beginning(restored, stored, newEpoch: newEpoch, earlier, environment),
                epochs: epochs,
                migrations: migrations,
                environment: environment
            )
        )
    }

    private func beginning(
        _ restored: RestoredState<Definition>,
        _ stored: StoredSession?,
        newEpoch: String,
        _ earlier: ParkedSession?,
        _ environment: SessionEnvironment
    ) -> Session.Beginning {
        // A migration may have made any document of what was stored, and transient fields of elements are in none.
        let isMeasured = restored.isMigrated || (stored != nil && engine.hasTransientElements)
        let loadedBytes = (stored?.snapshot?.state.count ?? 0) + restored.tailBytes
        let state = TypedState(engine, effects: environment.effects)
        return Session.Beginning(
            state: state,
            box: state.box(restored.state),
            stored: stored,
            tailBytes: restored.tailBytes,
            stateBytes: isMeasured ? restored.state.jsonBytes().count : engine.defaultStateBytes + loadedBytes,
            storedForm: restored.isMigrated ? .earlierSchema : stored?.hasWholeSnapshot == false ? .partial : .whole,
            epoch: stored?.head.epoch ?? (epochs.isDefaultVarying ? RandomToken.epoch() : newEpoch),
            earlier: earlier
        )
    }

    package func search(
        for paths: Set<MigrationPath>,
        environment: SessionEnvironment,
        reply: @escaping StorageReply<Void>
    ) {
        migrations.search(
            for: paths,
            in: environment.storage,
            sessionsMax: environment.limits.migrationSearchSessionsMax,
            logger: environment.logger,
            reply: reply
        )
    }

    package func visibleEpoch(of epoch: String) -> String { epochs.name(of: epoch) }

    package func check(_ key: SessionKey, stored: StoredSession) throws(SessionError) -> StoredSessionFindings {
        let restored = try RestoredState(stored, of: engine.definition, key: key)
        var ignored = IgnoredPaths(Definition.State.jsonSchema)
        if let document = restored.migrated {
            ignored.look(at: document)
        } else {
            ignored.look(at: stored)
        }
        return StoredSessionFindings(
            isMigrated: restored.isMigrated,
            ignored: ignored.paths,
            migration: restored.findings
        )
    }

    package func migrationFindings(_ key: SessionKey, stored: StoredSession) -> MigrationFindings {
        RestoredState.findings(in: stored, of: engine.definition, key) ?? MigrationFindings()
    }

    package func encodeDescription(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("name")
        writer.string(name)
        writer.key("sessions")
        writer.string(sessionPolicy.rawValue)
        writer.key("state")
        stateSchema.encodeJSON(into: &writer)
        writer.key("fields")
        writer.beginArray()
        for field in FieldDescription.all(of: engine.definition.defaultState) { field.encodeJSON(into: &writer) }
        writer.endArray()
        writer.key("event")
        Definition.Event.acceptedSchema.encodeJSON(into: &writer, direction: .read)
        writer.key("events")
        writer.beginArray()
        for event in Definition.Event.eventCases {
            writer.beginObject()
            writer.key("name")
            writer.string(event.name)
            writer.key("schema")
            event.schema.encodeJSON(into: &writer, direction: .read)
            writer.key("sensitive")
            writer.bool(event.isSensitive)
            writer.endObject()
        }
        writer.endArray()
        writer.key("bindings")
        engine.bindings.encodeDescription(of: engine.definition.defaultState, into: &writer)
        writer.key("views")
        writer.beginArray()
        for view in views {
            writer.beginObject()
            writer.key("name")
            writer.string(view.name)
            writer.key("schema")
            JSONSchema.annotated(view.schema, [JSONSchema.Annotation("readOnly", true)]).encodeJSON(into: &writer)
            writer.endObject()
        }
        writer.endArray()
        shared.encodeDescription(into: &writer)
        writer.endObject()
    }

    package var shape: AppShape { AppShape(engine.definition, bindings: engine.bindings, views: views, shared: shared) }

    package func typeScript() -> String {
        var types = TypeScriptDeclarations(
            comment: "Types of the app `\(name)`, made from its state, its events and its views.",
            names: ["State", "Event", "KeyPath", "Views", "Stores", "Values"]
        )
        types.declare("State", Definition.State.jsonSchema, comment: "The whole state of a session.")
        types.declare(
            "Event",
            Definition.Event.jsonSchema,
            comment: "What can be dispatched, one of its forms each.",
            direction: .read
        )
        types.declareKeyPaths(
            "KeyPath",
            of: Definition.State.jsonSchema,
            comment: "A key path of the state; `/` and `~` in a key are `~1` and `~0`."
        )
        if !views.isEmpty {
            types.declare("Views", views.schema(), comment: "The view objects of a session, by their names.")
        }
        if !shared.stores.isEmpty {
            types.declare("Stores", shared.storesSchema, comment: "The items of the stores, by the stores' names.")
        }
        if !shared.values.isEmpty {
            types.declare("Values", shared.valuesSchema, comment: "The values that all sessions share, by their names.")
        }
        return types.text
    }

    /// The shape of the state as it is served.
    ///
    /// `readOnly` stands at the root, not at single fields: what is read can only be changed by events, and a state that is given
    /// when a session is created may have any field, transient ones included.
    private var stateSchema: JSONSchema {
        .annotated(Definition.State.jsonSchema, [JSONSchema.Annotation("readOnly", true)])
    }
}

/// How a build would read a session.
package struct StoredSessionFindings: Hashable, Sendable {
    /// Whether it is of an earlier schema version.
    package let isMigrated: Bool
    /// The key paths of what is stored that no field takes; a token `*` stands for any element of a collection.
    package let ignored: Set<String>
    /// What the steps of its migration looked for.
    package let migration: MigrationFindings
}
