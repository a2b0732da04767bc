package import RivuletAccess
package import RivuletBase
package import RivuletEngine
package import RivuletJSON
import RivuletObservation
import RivuletSchema

/// The result of an attempt to make a session from stored data.
package enum MadeSession {
    /// The session.
    case made(Session)
    /// The session is not made yet. Its document lacks these paths, which a migration step needs, and the app's other
    /// sessions must be searched for them first.
    case lacking(Set<MigrationPath>)
}

/// Makes a session from data that was read.
///
/// The session has the stored state; if none is stored, the session is new. A new session has the epoch `newEpoch`, or
/// a random epoch if the app's default state varies. If its state is the state that the streams of `earlier` have seen,
/// the session continues the incarnation of `earlier` with these streams.
///
/// It throws `SessionError.unreadable` if the stored document cannot be read as this app's state.
package typealias SessionMaker =
    @Sendable (
        _ newEpoch: String,
        _ earlier: PassivatedSession?,
        _ environment: SessionEnvironment
    ) throws(SessionError) -> MadeSession

/// An app that can have sessions.
package protocol HostedApp: Sendable {
    var name: String { get }
    var sessionPolicy: SessionPolicy { get }
    /// The most sessions and stored bytes of the app and of each owner.
    var quota: StorageQuota { get }
    /// Returns true if the state's schema can have a value at this path.
    func accepts(_ path: JSONPointer) -> Bool
    /// Returns true if the view's schema, or the state's if `view` is nil, can have a value at this path.
    ///
    /// With `wildcards` a token `*` stands for any one token.
    func accepts(_ path: JSONPointer, view: String?, wildcards: Bool) -> Bool
    /// True if the app has a rule of its own for callers.
    var hasAccessRule: Bool { get }
    /// Returns what a caller may do with a session, as the app's own rule has it.
    func access(of caller: Caller, to session: String, granted: Access) -> Access
    /// The resources that all sessions share.
    var shared: SharedResources { get }
    /// The names of the app's views, in the order of their declaration.
    var viewNames: [String] { get }
    /// Returns true if a value can be written at this path.
    func isBound(_ path: JSONPointer) -> Bool
    /// The key paths that can be written, in the order of their declaration; a token `*` stands for the id of an
    /// element.
    var boundPaths: [String] { get }
    /// The reason that the app cannot be hosted, in words for its author; nil if it can.
    var fault: String? { get }
    /// The least `residentBytesMax` with which an event can make the state of a new session larger.
    var residentBytesLeast: Int { get }
    /// Writes the app's description: schemas, fields, events, bindings, views and shared resources.
    ///
    /// The description is the same each time, except for defaults that differ each time.
    func encodeDescription(into writer: inout JSONWriter)
    /// The shape of the app's state, events, views and shared resources.
    var shape: AppShape { get }
    /// Returns TypeScript types for the state, the events, the key paths, the views and the shared resources.
    func typeScript() -> String
    /// Returns the epoch that cursors carry for a history with this epoch in storage.
    func visibleEpoch(of epoch: String) -> String
    /// Reads a stored session in the same way as a load does, and returns the findings.
    ///
    /// - Throws: `SessionError.unreadable`.
    func check(_ key: SessionKey, stored: StoredSession) throws(SessionError) -> StoredSessionFindings
    /// Returns the paths that the steps of a migration look for in a session, even if the migrated document cannot be
    /// read.
    func migrationFindings(_ key: SessionKey, stored: StoredSession) -> MigrationFindings
    /// Returns a job that decodes a stored session and the kept values of an earlier incarnation; its result makes the
    /// session.
    ///
    /// The job may run on any thread, once.
    func loading(
        _ key: SessionKey,
        stored: StoredSession?,
        besides transients: TransientDocument?
    ) -> @Sendable () -> SessionMaker
    /// Searches the stored sessions for paths that a migration step needs.
    ///
    /// The session that lacks them can then be made, or refused. The reply comes on another thread.
    func search(
        for paths: Set<MigrationPath>,
        environment: SessionEnvironment,
        reply: @escaping StorageReply<Void>
    )
}

/// The hosting of one app definition.
///
/// It is a class, because each request passes it on, and a reference is cheap to copy.
package final class AppHost<Definition: AppDefinition>: HostedApp {
    package let name: String
    private let engine: EventEngine<Definition>
    private let epochs: VisibleEpoch
    private let acceptedPaths = AcceptedPaths()
    private let migrations: MigrationSearch
    /// The definition, if it has a rule for callers.
    private let guardian: (any GuardedApp)?
    package let shared: SharedResources

    package init(_ definition: Definition) {
        name = definition.name
        guardian = definition as? any GuardedApp
        engine = EventEngine(definition)
        epochs = VisibleEpoch(definition)
        migrations = MigrationSearch(app: definition.name) { key, stored in
            RestoredState.findings(in: stored, of: definition, key)
        }
        shared = SharedResources(of: definition)
    }

    package var sessionPolicy: SessionPolicy { engine.definition.sessionPolicy }

    package var quota: StorageQuota { engine.definition.quota }

    package var hasAccessRule: Bool { guardian != nil }

    package func access(of caller: Caller, to session: String, granted: Access) -> Access {
        guardian?.access(of: caller, to: session, granted: granted) ?? granted
    }

    package func accepts(_ path: JSONPointer) -> Bool {
        accepts(path, view: nil, wildcards: false)
    }

    package func isBound(_ path: JSONPointer) -> Bool { engine.bindings.contains(path) }

    package var boundPaths: [String] { engine.bindings.paths }

    package var fault: String? {
        engine.bindings.fault(in: engine.definition.defaultState) ?? views.fault() ?? shared.fault
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
        return views.contains { $0.name.hasSameBytes(as: view) && $0.schema.accepts(path: path, wildcards: wildcards) }
    }

    package var viewNames: [String] { views.map(\.name) }

    private var views: [StateView<Definition.State>] { engine.views }

    package func loading(
        _ key: SessionKey,
        stored: StoredSession?,
        besides transients: TransientDocument?
    ) -> @Sendable () -> SessionMaker {
        { [engine] in
            let loaded = Result { () throws(SessionError) in
                try LoadedState(stored, of: engine, key, besides: transients)
            }
            return { (newEpoch, earlier, environment) throws(SessionError) in
                let beginning = { (loaded: LoadedState<Definition>) in
                    self.beginning(loaded, stored, newEpoch: newEpoch, earlier, environment)
                }
                return try self.make(key, stored, loaded, beginning, environment)
            }
        }
    }

    private func make(
        _ key: SessionKey,
        _ stored: StoredSession?,
        _ loaded: Result<LoadedState<Definition>, SessionError>,
        _ beginning: (LoadedState<Definition>) -> Session.Beginning,
        _ environment: SessionEnvironment
    ) throws(SessionError) -> MadeSession {
        let state: LoadedState<Definition>
        do throws(SessionError) {
            state = try loaded.get()
        } catch {
            // A value that a migration step did not find can be the reason that the document does not decode.
            guard let findings = stored.map({ migrationFindings(key, stored: $0) }) else { throw error }
            let lacking = try migrations.judge(findings, of: key, isStored: true)
            guard lacking.isEmpty else { return .lacking(lacking) }
            throw error
        }
        let lacking = try migrations.judge(state.restored.findings, of: key, isStored: true)
        guard lacking.isEmpty else { return .lacking(lacking) }
        return .made(
            Session(key, beginning(state), epochs: epochs, migrations: migrations, environment: environment)
        )
    }

    private func beginning(
        _ loaded: LoadedState<Definition>,
        _ stored: StoredSession?,
        newEpoch: String,
        _ earlier: PassivatedSession?,
        _ environment: SessionEnvironment
    ) -> Session.Beginning {
        let restored = loaded.restored
        let state = TypedState(engine, effects: environment.effects)
        return Session.Beginning(
            state: state,
            box: state.box(restored.state),
            stored: stored,
            tailBytes: restored.tailBytes,
            stateBytes: loaded.stateBytes,
            storedForm: restored.isMigrated ? .earlierSchema : stored?.hasWholeSnapshot == false ? .partial : .whole,
            epoch: stored?.head.epoch ?? (epochs.isDefaultVarying ? RandomToken.epoch() : newEpoch),
            earlier: earlier,
            laid: loaded.laid.map { Session.Beginning.Laid(box: state.box($0.state), hash: $0.hash) }
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
        for event in Definition.Event.clientCases {
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
            Definition.Event.dispatchSchema,
            comment: "An event that can be dispatched, in one of these forms.",
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
    /// `readOnly` stands at the root, not at single fields, because only events change a state. A request that creates
    /// a session is different: its state may have any field, including transient fields.
    private var stateSchema: JSONSchema {
        .annotated(Definition.State.jsonSchema, [JSONSchema.Annotation("readOnly", true)])
    }
}

/// The result of reading a stored session with this build.
package struct StoredSessionFindings: Hashable, Sendable {
    /// True if the session is stored in an earlier schema version.
    package let isMigrated: Bool
    /// The key paths of stored values that no field takes; a token `*` stands for any element of a collection.
    package let ignored: Set<String>
    /// The paths that the steps of its migration looked for.
    package let migration: MigrationFindings
}
