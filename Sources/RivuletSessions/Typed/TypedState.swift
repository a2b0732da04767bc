import RivuletEngine
import RivuletJSON
import RivuletObservation

/// The app of one session: the only code of a session that is compiled for any type of state, and so the slowest.
final class TypedState<Definition: AppDefinition>: SessionState {
    typealias State = Definition.State
    typealias Event = Definition.Event

    private let engine: EventEngine<Definition>
    private let surroundings: EffectSurroundings
    /// Runs the effects; nil as long as there were none.
    private var driver: EffectDriver<Event>?
    /// The box of which those of events are made.
    private var eventBox: TypedBox<Event>?
    private weak var effectHost: (any SessionEffectHost)?

    init(_ engine: EventEngine<Definition>, effects surroundings: EffectSurroundings) {
        self.engine = engine
        self.surroundings = surroundings
    }

    private func state(_ box: OpaqueBox) -> TypedBox<State> { box.opened(as: State.self) }

    /// The box of a state that was loaded.
    func box(_ state: State) -> OpaqueBox { TypedBox(state) }

    // MARK: - Events

    func decode(_ request: DispatchRequest, eventsMax: Int) throws(SessionError) -> DecodedEvents {
        let decoded: (value: DecodedEvents?, notes: CoercionNotes?)
        do throws(JSONError) {
            // What wrappers change here is known to nobody later: the events are reduced in a run of their own.
            decoded = try CoercionLog.noting { () throws(JSONError) -> DecodedEvents? in
                guard let path = request.boundPath else { return try readEvents(request.body, eventsMax: eventsMax) }
                return try readEvent(boundTo: path, request.body)
            }
        } catch {
            throw .body(JSONReader.gravestFault(of: request.body, after: error))
        }
        guard var events = decoded.value else { throw .noValue(request.boundPath?.description ?? "") }
        events.notes = decoded.notes
        return events
    }

    /// Nearly every dispatch has one event, for which no array is made.
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

    /// The event that the binding at the path makes of a value; nil when the path has no binding, or a token where it takes an id that is none.
    private func readEvent(boundTo path: JSONPointer, _ body: [UInt8]) throws(JSONError) -> DecodedEvents? {
        var reader = JSONReader(body)
        reader.unknownKeys = .reject
        guard let event = try engine.bindings.event(at: path, from: &reader) else { return nil }
        try reader.finish()
        return decoded(event)
    }

    private func readEvents(_ body: [UInt8], eventsMax: Int) throws(JSONError) -> DecodedEvents {
        var reader = JSONReader(body)
        // A key that no event has is a slip of the sender's, which would go unnoticed otherwise.
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

    /// The event of a dispatch with this index.
    private func event(_ index: Int, of events: DecodedEvents) -> Event {
        events.count == 1 ? events.box.opened(as: Event.self).value : events.box.opened(as: [Event].self).value[index]
    }

    func apply(_ events: DecodedEvents, to state: OpaqueBox, settles: Bool) throws -> SessionStep {
        let after = copy(of: state, settles: settles)
        let step =
            if events.count == 1 {
                try engine.apply(events.box.opened(as: Event.self).value, notes: events.notes, to: &after.value)
            } else {
                try engine.apply(events.box.opened(as: [Event].self).value, notes: events.notes, to: &after.value)
            }
        return Self.step(step, after)
    }

    func apply(_ replacement: Replacement, to state: OpaqueBox, settles: Bool) throws(JSONError) -> SessionStep {
        let after = copy(of: state, settles: settles)
        return Self.step(try engine.apply(replacement.event, document: replacement.document, to: &after.value), after)
    }

    private func copy(of state: OpaqueBox, settles: Bool) -> TypedBox<State> {
        let before = self.state(state)
        // The box is the head's and the readers', who are done with the marks of the last event. While more than one state is under way,
        // a box is not to change: a failure goes back to it.
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

    func merge(_ document: JSONReader, over state: OpaqueBox) throws(SessionError) -> MergedState {
        let before = self.state(state).value
        let after = TypedBox(before)
        var failure: JSONError?
        let recording = ChangeRecorder.record(&after.value) { state in
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
        let changes = ChangeRecorder.differences(from: before, to: after.value)
        return MergedState(state: after, changes: changes, coercions: recording.coercions)
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
        // SAFETY: every list of effects that a session has comes from here.
        let list = unsafe unsafeDowncast(effects, to: EffectList<Event>.self)
        let driver = driver ?? EffectDriver(surroundings, host: self, report: effectHost.effectReport)
        self.driver = driver
        driver.begin(list.effects, chain: chain)
    }

    func tickDidEnd(_ tick: EffectTaskID) { driver?.tickDidEnd(tick) }

    func stopEffects() { driver?.stop() }
}

extension TypedState: EffectHost {
    func enqueue(_ event: Event, from source: EffectSource) -> EffectFault? {
        guard let effectHost else { return .late }
        return effectHost.enqueue(decoded(event), named: event.eventName, from: source)
    }

    func drive() { effectHost?.drive() }
}

// MARK: - States

extension TypedState {
    var schema: UInt32 { engine.definition.schema }

    var transientPaths: [String] { State.jsonSchema.transientPaths }

    var hasTransientElements: Bool { engine.hasTransientElements }

    func json(at path: JSONPointer, of state: OpaqueBox) -> [UInt8]? { self.state(state).value.json(at: path) }

    func document(of state: OpaqueBox) -> ReadableDocument { ReadableDocument(self.state(state).value) }

    func persistentJSON(of state: OpaqueBox, capacity: Int) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity, includesTransient: false)
        self.state(state).value.encodeJSON(into: &writer)
        return writer.bytes
    }

    func hasNumberForID(along path: JSONPointer) -> Bool {
        State.jsonSchema.hasNumberForID(along: path.tokens[...])
    }

    func condensed(_ changes: [StateChange], for state: OpaqueBox) -> [StateChange] {
        changes.condensed(for: self.state(state).value)
    }

    var defaultState: OpaqueBox { box(engine.definition.defaultState) }

    func restore(_ past: StoredPast, of key: SessionKey) throws(SessionError) -> (state: OpaqueBox, MigrationFindings) {
        let restored = try RestoredState(
            snapshot: past.snapshot,
            entries: past.entries,
            isNew: false,
            engine.definition,
            key
        )
        return (box(restored.state), restored.findings)
    }

    func replay(_ entry: LogEntry, onto state: OpaqueBox) throws(JSONError) -> OpaqueBox {
        let after = TypedBox(self.state(state).value)
        try RestoredState<Definition>.replay(entry, onto: &after.value)
        return after
    }

    func transients(of state: OpaqueBox, besides snapshot: StateSnapshot?, of key: SessionKey) -> TransientDocument? {
        do throws(SessionError) {
            let loaded = try RestoredState(
                snapshot: snapshot,
                entries: [],
                isNew: snapshot == nil,
                engine.definition,
                key
            )
            return TransientDocument(of: self.state(state).value, besides: loaded.state)
        } catch {
            return nil
        }
    }

    func lay(_ transients: TransientDocument, over state: OpaqueBox) throws(JSONError) -> OpaqueBox {
        let after = TypedBox(self.state(state).value)
        try transients.lay(over: &after.value)
        return after
    }
}

// MARK: - Views

extension TypedState {
    private typealias View = any ViewInstance<State>

    var viewNames: [String] { engine.views.map(\.name) }

    func makeView(_ name: String, of state: OpaqueBox) -> OpaqueBox? {
        guard let view = engine.views.first(where: { $0.name == name }) else { return nil }
        return TypedBox<View>(view.makeInstance(from: self.state(state).value))
    }

    func document(ofView view: OpaqueBox) -> ReadableDocument { ReadableDocument(view.opened(as: View.self).value) }

    func update(_ view: OpaqueBox, from old: OpaqueBox, to new: OpaqueBox, after changes: [StateChange]) -> ViewUpdate {
        view.opened(as: View.self).value.update(from: state(old).value, to: state(new).value, after: changes)
    }
}

/// A state, a view or the events of a dispatch, whose type only the session's ``SessionState`` knows.
///
/// A session passes boxes on unopened, so its code is the same for all apps and is compiled once.
class OpaqueBox {
    fileprivate init() {}

    /// The value; `Value` has to be its type.
    @inline(__always)
    final func opened<Value>(as type: Value.Type) -> TypedBox<Value> {
        // SAFETY: a session gets its boxes from one `TypedState`, which opens each as what it put in.
        unsafe unsafeDowncast(self, to: TypedBox<Value>.self)
    }
}

/// A box with its value, which only ``TypedState`` writes.
final class TypedBox<Value>: OpaqueBox {
    fileprivate(set) var value: Value {
        _read { yield unsafe stored }
        _modify { yield unsafe &stored }
    }

    // SAFETY: one thread has a box. An event writes to a box that only its `apply` has; `settle` writes to the head's, before any code of
    // the app runs. So no access begins during a write. A check of that at run time would cost as much as the access.
    @exclusivity(unchecked) private var stored: Value

    init(_ value: Value) {
        unsafe stored = value
    }

    /// A box of the same type with another value.
    ///
    /// Code that is compiled for all apps makes the metadata of a generic type anew each time that it names it; a copy has it at hand.
    func another(_ value: consuming Value) -> TypedBox {
        let box = copy()
        box.value = value
        return box
    }

    /// A box of its own with the same value.
    func copy() -> TypedBox { TypedBox(value) }
}

extension TypedBox where Value: ObservableState {
    /// Settles what the last event left in a state.
    func settle() { value._$settle() }
}

extension JSONSchema {
    /// Whether a path has a number where the id of an element of a keyed collection belongs.
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
