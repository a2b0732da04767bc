import RivuletEngine
import RivuletJSON
import RivuletObservation

/// What a session leaves to its app, because it needs the types of the app's state and events.
///
/// A session has one of its own, and hands only boxes to it that came from it. Every call is on the shard's thread.
protocol SessionState: AnyObject {
    // MARK: - Reading a state

    /// The schema version of documents that ``persistentJSON(of:capacity:)`` writes.
    var schema: UInt32 { get }
    /// The key paths of fields that no storage has.
    var transientPaths: [String] { get }
    /// Whether a loaded state may have transient fields that neither its document nor the default state has.
    var hasTransientElements: Bool { get }

    /// The value at a key path; nil when there is none.
    func json(at path: JSONPointer, of state: OpaqueBox) -> [UInt8]?
    /// The state as a document, which stays as it is now.
    func document(of state: OpaqueBox) -> ReadableDocument
    /// The state as it goes to disk: no transient and no omitted fields.
    func persistentJSON(of state: OpaqueBox, capacity: Int) -> [UInt8]
    /// Whether the path has a number where the id of an element of a keyed collection belongs.
    func hasNumberForID(along path: JSONPointer) -> Bool
    /// The changes, with whole values in the place of too many changes within one keyed collection.
    func condensed(_ changes: [StateChange], for state: OpaqueBox) -> [StateChange]

    // MARK: - Applying events

    /// Reads the events of a request, or the one that the binding of its key path makes of a value.
    func decode(_ request: DispatchRequest, eventsMax: Int) throws(SessionError) -> DecodedEvents
    /// Applies events to a copy of the state; the state itself stays, but settles what the last event left in it where `settles`.
    ///
    /// - Throws: A `RefusedEvent` or a `ReducerFailure`.
    func apply(_ events: DecodedEvents, to state: OpaqueBox, settles: Bool) throws -> SessionStep
    /// The same with an event of the engine.
    ///
    /// - Throws: What is wrong with the document of a restored version.
    func apply(_ replacement: Replacement, to state: OpaqueBox, settles: Bool) throws(JSONError) -> SessionStep
    /// The events as the log keeps them: sensitive ones by name only.
    func logJSON(of events: DecodedEvents) -> [UInt8]
    /// The name of the first event.
    func name(of events: DecodedEvents) -> String
    /// Lays a partial document over a copy of the state.
    func merge(_ document: JSONReader, over state: OpaqueBox) throws(SessionError) -> MergedState

    // MARK: - Restoring states

    /// The state of a new session.
    var defaultState: OpaqueBox { get }
    /// The state at a version of the past, and what its migration looked for.
    func restore(_ past: StoredPast, of key: SessionKey) throws(SessionError) -> (state: OpaqueBox, MigrationFindings)
    /// A copy of the state with the changes of one more entry, those of transient fields included.
    func replay(_ entry: LogEntry, onto state: OpaqueBox) throws(JSONError) -> OpaqueBox
    /// What a state has besides the one that a snapshot of it, or for nil no storage, gives back; nil when that cannot be given back.
    func transients(of state: OpaqueBox, besides snapshot: StateSnapshot?, of key: SessionKey) -> TransientDocument?
    /// A copy of the state with what an earlier incarnation had in memory only.
    func lay(_ transients: TransientDocument, over state: OpaqueBox) throws(JSONError) -> OpaqueBox

    // MARK: - Views

    /// The names of the app's views.
    var viewNames: [String] { get }
    /// A view object that stands where the state does; nil: the app has no such view.
    func makeView(_ name: String, of state: OpaqueBox) -> OpaqueBox?
    /// The view as a document, which is read as it is then.
    func document(ofView view: OpaqueBox) -> ReadableDocument
    /// Brings a view up to date with a state that these changes led to.
    func update(_ view: OpaqueBox, from old: OpaqueBox, to new: OpaqueBox, after changes: [StateChange]) -> ViewUpdate

    // MARK: - Effects

    /// Whether the next event waits for an effect.
    var isHoldingQueue: Bool { get }
    /// Whether no effect and no timer is under way.
    var hasIdleEffects: Bool { get }

    /// Says which session effects dispatch events to; it is held weakly.
    func attach(to host: any SessionEffectHost)
    /// What follows when a session comes into memory; nil: nothing.
    func effectsWhenLoaded(_ state: OpaqueBox) -> AnyObject?
    /// Begins effects that ``SessionStep`` or ``effectsWhenLoaded(_:)`` gave.
    func begin(_ effects: AnyObject, chain: EffectChain?)
    /// A timer's tick has had its turn.
    func tickDidEnd(_ tick: EffectTaskID)
    /// Cancels all effects.
    func stopEffects()
}

/// What the effects of a session act on.
protocol SessionEffectHost: AnyObject {
    /// Queues an event that an effect dispatched; `name` is the event's.
    ///
    /// - Returns: Why it was dropped; nil when it is queued.
    func enqueue(_ events: DecodedEvents, named name: String, from source: EffectSource) -> EffectFault?
    /// Goes on with the queue, if nothing holds it.
    func drive()
    /// Logs what went wrong with an effect; also when the session is gone.
    var effectReport: (_ fault: EffectFault, _ eventName: String) -> Void { get }
}

/// The events of one dispatch.
struct DecodedEvents {
    let box: OpaqueBox
    let count: Int
    /// Whether any of them asks to be durable.
    let persists: Bool
    /// What wrappers changed in the values that they carry.
    var notes: CoercionNotes?
}

/// What one dispatch did.
struct SessionStep {
    /// The state after it.
    let state: OpaqueBox
    let recording: Recording
    /// What follows it; nil: nothing.
    let effects: AnyObject?
    /// Whether the next event waits for its effects.
    let holdsQueue: Bool
}

/// A state that a partial document was laid over.
struct MergedState {
    let state: OpaqueBox
    /// How it differs from the one before.
    let changes: [StateChange]
    let coercions: [Coercion]
}
