import RivuletAccess
import RivuletEngine
import RivuletJSON
import RivuletObservation

/// The part of a session that needs the types of the app's state and events.
///
/// Each session has its own instance, and passes to it only boxes that this instance made. Every call is on the shard's
/// thread.
protocol SessionState: AnyObject {
    // MARK: - Reading a state

    /// The schema version of documents that ``persistentJSON(of:capacity:)`` writes.
    var schema: UInt32 { get }
    /// The shape of the state's JSON.
    var jsonSchema: JSONSchema { get }
    /// The key paths of fields that are never stored.
    var transientPaths: [String] { get }
    /// True if a loaded state may have transient fields that neither its document nor the default state has.
    var hasTransientElements: Bool { get }

    /// Returns the value at a key path; nil if there is none.
    func json(at path: JSONPointer, of state: OpaqueBox) -> [UInt8]?
    /// Returns the state as a document that does not change later.
    func document(of state: OpaqueBox) -> ReadableDocument
    /// Returns the state as it goes to disk: no transient and no omitted fields.
    func persistentJSON(of state: OpaqueBox, capacity: Int) -> [UInt8]
    /// Returns the state as it is now, for a work thread.
    func held(_ state: OpaqueBox) -> StateEncoder
    /// Returns true if the path has a number where the id of an element of a keyed collection belongs.
    func hasNumberForID(along path: JSONPointer) -> Bool
    /// Returns the changes, with whole values in place of too many changes within one keyed collection.
    func condensed(_ changes: [StateChange], for state: OpaqueBox) -> [StateChange]

    // MARK: - Applying events

    /// Decodes the events of a request; if the request has a bound path, the path's binding makes the event from the
    /// body.
    func decode(_ request: DispatchRequest, eventsMax: Int) throws(SessionError) -> DecodedEvents
    /// True if the app has a rule of its own for callers.
    var isGuarded: Bool { get }
    /// Returns a caller's events as the app's rule admits them.
    ///
    /// - Throws: A `DeniedEvent` for the first event that the rule refuses, or the rule's own error.
    func admit(_ events: DecodedEvents, from caller: Caller, to state: OpaqueBox) throws -> DecodedEvents
    /// Applies events to a copy of the state.
    ///
    /// No value of the state itself changes. If `settles` is true, the state first completes the bookkeeping that its
    /// last event left.
    ///
    /// - Throws: A `RejectedEventError` or a `ReducerError`.
    func apply(_ events: DecodedEvents, to state: OpaqueBox, settles: Bool) throws -> SessionStep
    /// Returns a job that applies an engine event to a copy of the state; it fails if the document of a restored
    /// version does not decode.
    ///
    /// The job may run on any thread, once.
    func replacing(
        _ state: OpaqueBox,
        by replacement: Replacement,
        settles: Bool
    ) -> @Sendable () -> Result<ReplacedState, JSONError>
    /// Returns the events as the log keeps them: sensitive ones by name only.
    func logJSON(of events: DecodedEvents) -> [UInt8]
    /// Returns the name of the first event.
    func name(of events: DecodedEvents) -> String
    /// Returns a job that merges a partial document into a copy of the state.
    ///
    /// The job may run on any thread, once.
    func merging(
        _ document: JSONReader,
        over state: OpaqueBox
    ) -> @Sendable () -> Result<MergedState, SessionError>

    // MARK: - Restoring states

    /// The state of a new session.
    var defaultState: OpaqueBox { get }
    /// Returns a job that restores the state at a version of the past, with the findings of its migration.
    ///
    /// The job may run on any thread, once.
    func restoring(_ past: StoredPast, of key: SessionKey) -> @Sendable () -> Result<RestoredPast, SessionError>
    /// Returns a job that restores the state at a version of the past, and then the state after each entry, including
    /// changes of transient fields.
    ///
    /// The job may run on any thread, once. It throws an error if one of the states cannot be read.
    func replaying(
        _ past: StoredPast,
        _ entries: [LogEntry],
        of key: SessionKey
    ) -> @Sendable () throws -> [StateEncoder]
    /// Returns a job that finds the values of a state that a load would not restore.
    ///
    /// The load begins with a snapshot of the state at `version`, or with the default state if `version` is nil. The
    /// job may run on any thread, once. It returns nil if the state cannot be restored.
    func remaining(
        of state: OpaqueBox,
        storedAt version: UInt64?,
        of key: SessionKey
    ) -> @Sendable () -> SessionRemains?

    // MARK: - Views

    /// The names of the app's views.
    var viewNames: [String] { get }
    /// Makes a view object for the state; returns nil if the app has no such view.
    func makeView(_ name: String, of state: OpaqueBox) -> OpaqueBox?
    /// Returns the view as a document; each read gets the view's values at that time.
    func document(ofView view: OpaqueBox) -> ReadableDocument
    /// Updates a view to a state that these changes led to.
    func update(_ view: OpaqueBox, from old: OpaqueBox, to new: OpaqueBox, after changes: [StateChange]) -> ViewUpdate

    // MARK: - Effects

    /// True if the next event waits for an effect.
    var isHoldingQueue: Bool { get }
    /// True if no effect and no timer is under way.
    var hasIdleEffects: Bool { get }

    /// Sets the session to which effects dispatch events; the reference is weak.
    func attach(to host: any SessionEffectHost)
    /// Returns the effects of a session that comes into memory; nil if there are none.
    func effectsWhenLoaded(_ state: OpaqueBox) -> AnyObject?
    /// Begins effects from ``SessionStep`` or ``effectsWhenLoaded(_:)``.
    func begin(_ effects: AnyObject, chain: EffectChain?)
    /// Called when the event of a timer's tick has had its turn.
    func tickDidEnd(_ tick: EffectTaskID)
    /// Cancels all effects.
    func stopEffects()
}

/// A state as it was at one moment, which any thread may read.
struct StateEncoder: Sendable {
    /// Makes a document of the state, which one thread may use.
    let document: @Sendable () -> ReadableDocument
    /// The state as it goes to disk: no transient and no omitted fields.
    let persistentJSON: @Sendable (_ capacity: Int) -> [UInt8]
}

/// The values that are kept of a state that leaves memory.
struct SessionRemains: Sendable {
    /// The values that storage does not have.
    let transients: TransientDocument
    /// The hash of the whole state as JSON, within this process.
    let hash: Int
}

/// A state that was restored, and the findings of its migration.
struct RestoredPast: Sendable {
    let state: StateEncoder
    let findings: MigrationFindings
}

/// The session to which effects dispatch events.
protocol SessionEffectHost: AnyObject {
    /// Queues an event that an effect dispatched; `name` is the event's name.
    ///
    /// - Returns: The reason if the event was dropped; nil if it is queued.
    func enqueue(_ events: DecodedEvents, named name: String, from source: EffectSource) -> EffectError?
    /// Continues with the queue, if nothing holds it.
    func drive()
    /// A closure that logs the error of an effect, even if the session has left memory.
    var effectReport: (_ error: EffectError, _ eventName: String) -> Void { get }
}

/// The events of one dispatch.
struct DecodedEvents {
    let box: OpaqueBox
    let count: Int
    /// True if any of the events is durable (`AppEvent.persist`).
    let persists: Bool
    /// The coercions of the values in the events.
    var records: CoercionRecords?
}

/// The result of one dispatch.
struct SessionStep {
    /// The state after the dispatch.
    let state: OpaqueBox
    let recording: Recording
    /// The effects of the dispatch; nil if there are none.
    let effects: AnyObject?
    /// True if the next event waits for these effects.
    let holdsQueue: Bool
}

/// The sizes, in bytes of JSON, of a state and of the state that it replaces.
struct MeasuredSize: Sendable {
    let bytes: Int
    let before: Int
}

/// A state that replaces another one.
struct ReplacedState: Sendable {
    /// Makes the step, on the session's thread.
    let step: @Sendable () -> SessionStep
    let size: MeasuredSize
}

/// A state into which a partial document was merged.
struct MergedState: Sendable {
    /// Makes the box of the state, on the session's thread.
    let state: @Sendable () -> OpaqueBox
    let size: MeasuredSize
    /// The state as it goes to disk.
    let document: [UInt8]
    /// The changes from the state before the merge.
    let changes: [StateChange]
    let coercions: [Coercion]
}
