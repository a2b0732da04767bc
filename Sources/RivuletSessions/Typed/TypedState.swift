import RivuletAccess
import RivuletBase
import RivuletEngine
import RivuletJSON
import RivuletObservation

/// The part of a session that knows the types of its app.
///
/// It is the only generic code of a session, and generic code is slower than other code.
final class TypedState<Definition: AppDefinition>: SessionState {
    typealias State = Definition.State
    typealias Event = Definition.Event

    private let engine: EventEngine<Definition>
    private let surroundings: EffectSurroundings
    /// Runs the effects; nil until the session has an effect.
    private var driver: EffectDriver<Event>?
    /// The box from which the boxes of single events are copied.
    private var eventBox: TypedBox<Event>?
    private weak var effectHost: (any SessionEffectHost)?
    /// The app's rule for callers; nil if it has none.
    private let guardian: (any GuardedApp<State, Event>)?

    init(_ engine: EventEngine<Definition>, effects surroundings: EffectSurroundings) {
        self.engine = engine
        self.surroundings = surroundings
        guardian = engine.definition as? any GuardedApp<State, Event>
    }

    var isGuarded: Bool { guardian != nil }

    private func state(_ box: OpaqueBox) -> TypedBox<State> { box.opened(as: State.self) }

    /// Returns the box of a state that was loaded.
    func box(_ state: State) -> OpaqueBox { TypedBox(state) }

    // MARK: - Events

    func decode(_ request: DispatchRequest, eventsMax: Int) throws(SessionError) -> DecodedEvents {
        let decoded: (value: DecodedEvents?, records: CoercionRecords?)
        do throws(JSONError) {
            // Coercions are recorded here, because the events are decoded here and reduced later.
            decoded = try CoercionLog.noting { () throws(JSONError) -> DecodedEvents? in
                guard let path = request.boundPath else { return try readEvents(request.body, eventsMax: eventsMax) }
                return try readEvent(boundTo: path, request.body)
            }
        } catch {
            let error = JSONReader.mostSevereError(of: request.body, after: error)
            if request.boundPath == nil, !error.isMalformed {
                try InternalEventSearch.refuse(Event.eventCases, in: request.body)
            }
            throw .body(error)
        }
        guard var events = decoded.value else { throw .noValue(request.boundPath?.description ?? "") }
        if let index = internalIndex(of: events) {
            let name = event(index, of: events).eventName
            throw .internalEvent(name: name, index: request.isArray ? index : nil)
        }
        if let granted = request.sender?.events, let index = ungrantedIndex(of: events, granted) {
            let name = event(index, of: events).eventName
            throw .notGranted(event: name, index: request.isArray ? index : nil)
        }
        events.records = decoded.records
        return events
    }

    /// Returns the single event of a dispatch, without an array; nearly every dispatch has one event.
    private func decoded(_ event: Event) -> DecodedEvents {
        DecodedEvents(box: (eventBox ?? firstEventBox(event)).another(event), count: 1, persists: event.persist)
    }

    private func firstEventBox(_ event: Event) -> TypedBox<Event> {
        let box = TypedBox(event)
        eventBox = box
        return box
    }

    private func decoded(_ events: [Event]) -> DecodedEvents {
        DecodedEvents(box: TypedBox(events), count: events.count, persists: events.contains { $0.persist })
    }

    /// Returns the event that the binding at the path makes of a value.
    ///
    /// The result is nil if the path has no binding, or if a token in the position of an id is no valid id.
    private func readEvent(boundTo path: JSONPointer, _ body: [UInt8]) throws(JSONError) -> DecodedEvents? {
        var reader = JSONReader(body)
        reader.unknownKeys = .reject
        guard let event = try engine.bindings.event(at: path, from: &reader) else { return nil }
        try reader.finish()
        return decoded(event)
    }

    private func readEvents(_ body: [UInt8], eventsMax: Int) throws(JSONError) -> DecodedEvents {
        var reader = JSONReader(body)
        // A key that no event has is a mistake of the sender, which would stay undetected otherwise.
        reader.unknownKeys = .reject
        guard try reader.peek() == .array else {
            let event = try Event(json: &reader)
            try reader.finish()
            return decoded(event)
        }
        let start = reader
        var events: [Event] = []
        try reader.array { index, reader throws(JSONError) in
            guard index < eventsMax else {
                throw reader.error(.outOfRange, "one dispatch takes at most \(eventsMax) events; send several")
            }
            events.append(try Event(json: &reader))
        }
        if events.isEmpty { throw start.error(.mismatch, "a dispatch has at least one event") }
        try reader.finish()
        return events.count == 1 ? decoded(events[0]) : decoded(events)
    }

    /// Returns the event of a dispatch with this index.
    private func event(_ index: Int, of events: DecodedEvents) -> Event {
        events.count == 1 ? events.box.opened(as: Event.self).value : events.box.opened(as: [Event].self).value[index]
    }

    /// Returns the index of the first event that clients must not dispatch; nil if there is none.
    private func internalIndex(of events: DecodedEvents) -> Int? {
        guard events.count == 1 else {
            return events.box.opened(as: [Event].self).value.firstIndex { $0.isInternal }
        }
        return events.box.opened(as: Event.self).value.isInternal ? 0 : nil
    }

    /// Returns the index of the first event that a caller's grants do not name; nil if they name all.
    private func ungrantedIndex(of events: DecodedEvents, _ granted: NameSet) -> Int? {
        if granted.isAll { return nil }
        return (0..<events.count).first { !granted.contains(event($0, of: events).eventName) }
    }

    func admit(_ events: DecodedEvents, from caller: Caller, to state: OpaqueBox) throws -> DecodedEvents {
        guard let guardian else { return events }
        let state = self.state(state).value
        let admitted = try (0..<events.count).map { index in
            do {
                return try guardian.admit(event(index, of: events), from: caller, state: state)
            } catch let denied as AccessDenied {
                throw DeniedEvent(index: index, reason: denied.description)
            }
        }
        return admitted.count == 1 ? decoded(admitted[0]) : decoded(admitted)
    }

    func apply(_ events: DecodedEvents, to state: OpaqueBox, settles: Bool) throws -> SessionStep {
        let after = copy(of: state, settles: settles)
        let step =
            if events.count == 1 {
                try engine.apply(events.box.opened(as: Event.self).value, records: events.records, to: &after.value)
            } else {
                try engine.apply(events.box.opened(as: [Event].self).value, records: events.records, to: &after.value)
            }
        return Self.step(step, after)
    }

    func replacing(
        _ state: OpaqueBox,
        by replacement: Replacement,
        settles: Bool
    ) -> @Sendable () -> Result<ReplacedState, JSONError> {
        let (engine, before) = (engine, copy(of: state, settles: settles).value)
        return {
            Result { () throws(JSONError) in
                var after = before
                let step = try engine.apply(replacement.event, document: replacement.document, to: &after)
                let state = after
                return ReplacedState(
                    step: { Self.step(step, TypedBox(state)) },
                    size: Self.size(of: after, before: before)
                )
            }
        }
    }

    private func copy(of state: OpaqueBox, settles: Bool) -> TypedBox<State> {
        let before = self.state(state)
        // With `settles`, the head is the visible state, and the readers no longer need the marks of its last event.
        // Without it, the box must not change, because a failed commit may roll back to it.
        if settles { before.settle() }
        return before.copy()
    }

    private static func step(_ step: EventEngine<Definition>.Step, _ after: TypedBox<State>) -> SessionStep {
        SessionStep(
            state: after,
            recording: step.recording,
            effects: step.effectList,
            holdsQueue: step.effectList?.holdsQueue == true
        )
    }

    func logJSON(of events: DecodedEvents) -> [UInt8] {
        var writer = JSONWriter(capacity: 128)
        if events.count != 1 { writer.beginArray() }
        for index in 0..<events.count {
            let event = event(index, of: events)
            if event.isSensitive { writer.string(event.eventName) } else { event.encodeJSON(into: &writer) }
        }
        if events.count != 1 { writer.endArray() }
        return writer.bytes
    }

    func name(of events: DecodedEvents) -> String { event(0, of: events).eventName }

    func merging(
        _ document: JSONReader,
        over state: OpaqueBox
    ) -> @Sendable () -> Result<MergedState, SessionError> {
        let before = self.state(state).value
        return {
            Result { () throws(SessionError) in try Self.merge(document, over: before) }
        }
    }

    private static func merge(_ document: JSONReader, over before: State) throws(SessionError) -> MergedState {
        var after = before
        var failure: JSONError?
        let recording = ChangeRecorder.record(&after) { state in
            do throws(JSONError) {
                var reader = document
                reader.unknownKeys = .reject
                try state._$merge(json: &reader)
                try reader.finish()
            } catch {
                failure = error
            }
        }
        if let failure { throw .body(failure) }
        let changes = ChangeRecorder.differences(from: before, to: after)
        let (state, size) = (after, size(of: after, before: before))
        return MergedState(
            state: { TypedBox(state) },
            size: size,
            document: persistentJSON(of: state, capacity: size.bytes),
            changes: changes,
            coercions: recording.coercions
        )
    }

    private static func size(of state: State, before: State) -> MeasuredSize {
        MeasuredSize(bytes: state.json(at: .root)?.count ?? 0, before: before.json(at: .root)?.count ?? 0)
    }

    // MARK: - Effects

    func attach(to host: any SessionEffectHost) { effectHost = host }

    var isHoldingQueue: Bool { driver?.isHoldingQueue == true }

    var hasIdleEffects: Bool { driver?.isIdle != false }

    func effectsWhenLoaded(_ state: OpaqueBox) -> AnyObject? {
        let effect = engine.definition.effect(whenLoaded: self.state(state).value)
        return effect.isNone ? nil : EffectList(EventEffect(eventName: "(loaded)", effect: effect))
    }

    func begin(_ effects: AnyObject, chain: EffectChain?) {
        guard let effectHost else { return }
        // SAFETY: every list of effects that a session has was made by its own `TypedState`.
        let list = unsafe unsafeDowncast(effects, to: EffectList<Event>.self)
        let driver = driver ?? EffectDriver(surroundings, host: self, report: effectHost.effectReport)
        self.driver = driver
        driver.begin(list.effects, chain: chain)
    }

    func tickDidEnd(_ tick: EffectTaskID) { driver?.tickDidEnd(tick) }

    func stopEffects() { driver?.stop() }
}

extension TypedState: EffectHost {
    func enqueue(_ event: Event, from source: EffectSource) -> EffectError? {
        guard let effectHost else { return .late }
        return effectHost.enqueue(decoded(event), named: event.eventName, from: source)
    }

    func drive() { effectHost?.drive() }
}

// MARK: - States

extension TypedState {
    var schema: UInt32 { engine.definition.schema }

    var jsonSchema: JSONSchema { State.jsonSchema }

    var transientPaths: [String] { State.jsonSchema.transientPaths }

    var hasTransientElements: Bool { engine.hasTransientElements }

    func json(at path: JSONPointer, of state: OpaqueBox) -> [UInt8]? { self.state(state).value.json(at: path) }

    func document(of state: OpaqueBox) -> ReadableDocument { ReadableDocument(self.state(state).value) }

    func persistentJSON(of state: OpaqueBox, capacity: Int) -> [UInt8] {
        Self.persistentJSON(of: self.state(state).value, capacity: capacity)
    }

    private static func persistentJSON(of state: State, capacity: Int) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity, includesTransient: false)
        state.encodeJSON(into: &writer)
        return writer.bytes
    }

    func held(_ state: OpaqueBox) -> StateEncoder { Self.held(self.state(state).value) }

    private static func held(_ state: State) -> StateEncoder {
        StateEncoder {
            ReadableDocument(state)
        } persistentJSON: {
            persistentJSON(of: state, capacity: $0)
        }
    }

    func hasNumberForID(along path: JSONPointer) -> Bool {
        State.jsonSchema.hasNumberForID(along: path.tokens[...])
    }

    func condensed(_ changes: [StateChange], for state: OpaqueBox) -> [StateChange] {
        changes.condensed(for: self.state(state).value)
    }

    var defaultState: OpaqueBox { box(engine.definition.defaultState) }

    func restoring(_ past: StoredPast, of key: SessionKey) -> @Sendable () -> Result<RestoredPast, SessionError> {
        let definition = engine.definition
        return {
            Result { () throws(SessionError) in
                let restored = try RestoredState(
                    snapshot: past.snapshot,
                    entries: past.entries,
                    isNew: false,
                    definition,
                    key
                )
                return RestoredPast(state: Self.held(restored.state), findings: restored.findings)
            }
        }
    }

    func replaying(
        _ past: StoredPast,
        _ entries: [LogEntry],
        of key: SessionKey
    ) -> @Sendable () throws -> [StateEncoder] {
        let definition = engine.definition
        return {
            var state = try RestoredState(
                snapshot: past.snapshot,
                entries: past.entries,
                isNew: false,
                definition,
                key
            ).state
            return try [Self.held(state)]
                + entries.map { entry in
                    try RestoredState<Definition>.replay(entry, onto: &state)
                    return Self.held(state)
                }
        }
    }

    func remaining(
        of state: OpaqueBox,
        storedAt version: UInt64?,
        of key: SessionKey
    ) -> @Sendable () -> SessionRemains? {
        let (state, definition) = (self.state(state).value, engine.definition)
        return {
            let snapshot = version.map {
                StateSnapshot(
                    version: $0,
                    schema: definition.schema,
                    state: Self.persistentJSON(of: state, capacity: 1_024)
                )
            }
            do throws(SessionError) {
                let loaded = try RestoredState(
                    snapshot: snapshot,
                    entries: [],
                    isNew: snapshot == nil,
                    definition,
                    key
                )
                return TransientDocument(of: state, besides: loaded.state)
                    .map { SessionRemains(transients: $0, hash: state.wholeHash) }
            } catch {
                return nil
            }
        }
    }
}

// MARK: - Views

extension TypedState {
    private typealias View = any ViewInstance<State>

    var viewNames: [String] { engine.views.map(\.name) }

    func makeView(_ name: String, of state: OpaqueBox) -> OpaqueBox? {
        guard let view = engine.views.first(where: { $0.name.hasSameBytes(as: name) }) else { return nil }
        return TypedBox<View>(view.makeInstance(from: self.state(state).value))
    }

    func document(ofView view: OpaqueBox) -> ReadableDocument { ReadableDocument(view.opened(as: View.self).value) }

    func update(_ view: OpaqueBox, from old: OpaqueBox, to new: OpaqueBox, after changes: [StateChange]) -> ViewUpdate {
        view.opened(as: View.self).value.update(from: state(old).value, to: state(new).value, after: changes)
    }
}

/// A box with a state, a view or the events of a dispatch; only the session's ``SessionState`` knows the type of the
/// value.
///
/// A session passes boxes on unopened, so its code is the same for all apps and is compiled once.
class OpaqueBox {
    fileprivate init() {}

    /// Returns the box as a box of its type; `Value` has to be that type.
    @inline(__always)
    final func opened<Value>(as type: Value.Type) -> TypedBox<Value> {
        // SAFETY: a session gets its boxes from one `TypedState`, which opens each box as the type that it put in.
        unsafe unsafeDowncast(self, to: TypedBox<Value>.self)
    }
}

/// A box with its value, which only ``TypedState`` writes.
final class TypedBox<Value>: OpaqueBox {
    fileprivate(set) var value: Value {
        _read { yield unsafe stored }
        _modify { yield unsafe &stored }
    }

    // SAFETY: one thread has a box. An event writes to a box that only its `apply` has; `settle` writes to the head's
    // box, before any code of the app runs. So no access begins during a write. A check at run time would cost as much
    // as the access.
    @exclusivity(unchecked) private var stored: Value

    init(_ value: Value) {
        unsafe stored = value
    }

    /// Returns a box of the same type with another value.
    ///
    /// Code that is compiled for all apps makes the metadata of a generic type again each time that it names the type.
    /// A copy of a box already has the metadata.
    func another(_ value: consuming Value) -> TypedBox {
        let box = copy()
        box.value = value
        return box
    }

    /// Returns a new box with the same value.
    func copy() -> TypedBox { TypedBox(value) }
}

extension TypedBox where Value: ObservableState {
    /// Completes the bookkeeping that the last event left in a state.
    func settle() { value._$settle() }
}

extension JSONSchema {
    /// Returns true if a path has a number where the id of an element of a keyed collection belongs.
    fileprivate func hasNumberForID(along path: ArraySlice<String>) -> Bool {
        guard let token = path.first else { return false }
        let rest = path.dropFirst()
        switch self {
        case .keyed(let element, _):
            return JSONPointer.index(token) != nil || element.hasNumberForID(along: rest)
        case .array(let element), .dictionary(let element): return element.hasNumberForID(along: rest)
        case .optional(let schema), .annotated(let schema, _): return schema.hasNumberForID(along: path)
        case .named(_, _, let shape): return shape().hasNumberForID(along: path)
        case .oneOf(let schemas), .anyOf(let schemas): return schemas.contains { $0.hasNumberForID(along: path) }
        case .object(_, _, let fields):
            return fields().contains { $0.name == token && $0.schema.hasNumberForID(along: rest) }
        case .any, .null, .boolean, .integer, .number, .string: return false
        }
    }
}
