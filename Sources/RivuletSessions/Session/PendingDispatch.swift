import RivuletEngine
import RivuletObservation

/// What the reducers have done and nobody has seen yet.
///
/// It holds the whole state after it; states share what did not change, so this costs what the dispatch touched. A class, for a queue of
/// structs of a generic type copies them by way of their metadata.
final class PendingDispatch<Definition: AppDefinition> {
    /// The state after it.
    let state: Definition.State
    /// Where the session stands after it.
    let position: Cursor.Position
    /// How large the state is after it.
    let size: StateSize
    let changes: [StateChange]
    let coercions: [Coercion]
    /// What follows it; nil: nothing.
    let effects: EffectList<Definition.Event>?
    /// The count to which the dispatch belongs, when an effect brought it forth at once.
    let chain: EffectChain?
    /// What storage has to take; nil for transient events and those that changed nothing.
    let entry: LogEntry?
    /// Whether any of its events asked to be durable.
    let persists: Bool
    /// The transient events' changes of persistent fields that no entry carries after this dispatch.
    let unloggedAfter: [StateChange]
    /// Whether it wrote a field that no change tells of; views may show what is computed from it.
    var hasOmittedWrite = false
    /// How it found the session elsewhere than its sender expected: it changed nothing, and says so when what it saw is visible.
    var mismatch: CursorMismatch?
    /// Its answer, for a client that may ask again; storage takes it together with the entry, if there is one.
    var kept: KeptAnswer?
    /// What its body takes of the bytes that may wait.
    let bodyBytes: Int
    let reply: SessionReply<DispatchAnswer>

    init(
        state: Definition.State,
        position: Cursor.Position,
        size: StateSize,
        changes: [StateChange],
        coercions: [Coercion],
        effects: EffectList<Definition.Event>?,
        chain: EffectChain? = nil,
        entry: LogEntry?,
        persists: Bool,
        unloggedAfter: [StateChange],
        bodyBytes: Int = 0,
        reply: @escaping SessionReply<DispatchAnswer>
    ) {
        self.state = state
        self.position = position
        self.size = size
        self.changes = changes
        self.coercions = coercions
        self.effects = effects
        self.chain = chain
        self.entry = entry
        self.persists = persists
        self.unloggedAfter = unloggedAfter
        self.bodyBytes = bodyBytes
        self.reply = reply
    }

    /// Whether storage has to take anything before it is visible.
    var needsStorage: Bool { entry != nil || kept != nil }

    /// Whether readers may see another state after it.
    var isVisible: Bool { !changes.isEmpty || hasOmittedWrite }

    /// What it takes of memory, roughly, besides the state that it shares with others.
    var memoryBytes: Int { changes.memoryBytes + (entry?.byteCount ?? 0) + (kept?.byteCount ?? 0) }

    /// Whether the next event waits for its effects.
    var holdsQueue: Bool { effects?.holdsQueue == true }
}

/// A dispatch that waits for its turn; a class for the same reason.
final class QueuedDispatch<Definition: AppDefinition> {
    let events: [Definition.Event]
    /// Whether its sender numbers the events, from 0.
    let isArray: Bool
    /// What wrappers changed in the values that the events carry.
    let notes: CoercionNotes?
    let expected: [Cursor]
    let isStrict: Bool
    /// Keeps the answer, when its sender may ask again.
    let keeper: AnswerKeeper?
    /// The effect that it comes from; nil for one from outside.
    let source: EffectSource?
    /// What replaces the state in the place of events.
    let replacement: Replacement?
    /// What its body takes of the bytes that may wait.
    let bodyBytes: Int
    let reply: SessionReply<DispatchAnswer>

    init(
        events: [Definition.Event],
        isArray: Bool = false,
        notes: CoercionNotes?,
        expected: [Cursor],
        isStrict: Bool,
        keeper: AnswerKeeper? = nil,
        source: EffectSource? = nil,
        replacement: Replacement? = nil,
        bodyBytes: Int = 0,
        reply: @escaping SessionReply<DispatchAnswer>
    ) {
        self.events = events
        self.isArray = isArray
        self.notes = notes
        self.expected = expected
        self.isStrict = isStrict
        self.keeper = keeper
        self.source = source
        self.replacement = replacement
        self.bodyBytes = bodyBytes
        self.reply = reply
    }

    /// Whether its change has to be durable.
    var persists: Bool {
        // Nearly every dispatch has one event, for which no iterator need be made.
        if events.count == 1 { return events[0].persist }
        return replacement != nil || events.contains { $0.persist }
    }
}

/// An event of the engine that waits for its turn.
struct Replacement {
    let event: EngineEvent
    /// The stored fields of the version that is restored; empty for a reset.
    let document: [UInt8]
}
