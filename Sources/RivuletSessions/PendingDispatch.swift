// Part of Rivulet. See README.md for the architecture.
// Owns an accepted dispatch on its way to being durable and visible.

import RivuletEngine
import RivuletObservation

/// What the reducers have done and nobody has seen yet.
///
/// It holds the whole state after it; states share what did not change, so this costs what the dispatch touched.
struct PendingDispatch<Definition: AppDefinition> {
    /// The state after it.
    let state: Definition.State
    /// Where the session stands after it.
    let position: Cursor.Position
    let changes: [StateChange]
    let coercions: [Coercion]
    let effects: [EventEffect<Definition.Event>]
    /// The count to which the dispatch belongs, when an effect brought it forth at once.
    var chain: EffectChain?
    /// What storage has to take; nil for transient events and those that changed nothing.
    let entry: LogEntry?
    /// Whether any of its events asked to be durable.
    let persists: Bool
    /// The transient events' changes of persistent fields that no entry carries after this dispatch.
    let unloggedAfter: [StateChange]
    /// Whether it found the session elsewhere than its sender expected: it changed nothing, and says so when what it saw is visible.
    var isRefused = false
    /// Its answer, for a client that may ask again; storage takes it together with the entry, if there is one.
    var kept: KeptAnswer?
    let reply: SessionReply<DispatchAnswer>

    /// Whether storage has to take anything before it is visible.
    var needsStorage: Bool { entry != nil || kept != nil }

    /// Whether the next event waits for its effects.
    var holdsQueue: Bool { effects.contains { $0.effect.holdsQueue } }
}

/// A dispatch that waits for its turn.
struct QueuedDispatch<Definition: AppDefinition> {
    let events: [Definition.Event]
    /// What wrappers changed in the values that the events carry.
    let notes: CoercionNotes?
    let expected: [Cursor]
    let isStrict: Bool
    /// Keeps the answer, when its sender may ask again.
    var keeper: AnswerKeeper?
    /// The effect that it comes from; nil for one from outside.
    var source: EffectSource?
    /// What replaces the state in the place of events.
    var replacement: Replacement?
    let reply: SessionReply<DispatchAnswer>

    /// Whether its change has to be durable.
    var persists: Bool { replacement != nil || events.contains { $0.persist } }
}

/// An event of the engine that waits for its turn.
struct Replacement {
    let event: EngineEvent
    /// The stored fields of the version that is restored; empty for a reset.
    let document: [UInt8]
}
