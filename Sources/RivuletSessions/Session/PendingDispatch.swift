import RivuletEngine
import RivuletObservation

/// A dispatch that is reduced and not visible yet.
///
/// It holds the whole state after it; states share what did not change, so this costs what the dispatch touched. A class, because it
/// stands in a queue and is handed on often.
final class PendingDispatch {
    /// The state after it.
    let state: OpaqueBox
    /// Where the session stands after it.
    let position: Cursor.Position
    /// How large the state is after it.
    let size: StateSize
    /// The transient events' changes of stored fields that no entry carries after this dispatch.
    let unlogged: [StateChange]
    /// What storage has to take; nil for transient events and those that changed nothing.
    let entry: LogEntry?
    let outcome: Outcome
    /// Its answer, for a client that may ask again; storage takes it together with the entry, if there is one.
    private(set) var kept: KeptAnswer?
    /// The bytes of its body, which count as waiting until it is answered.
    let bodyBytes: Int
    let reply: SessionReply<DispatchAnswer>
    /// What it takes of memory, roughly, besides the state that it shares with others.
    private(set) var memoryBytes: Int

    /// What it did.
    struct Outcome {
        var changes: [StateChange] = []
        /// Whether the log's entry has these changes, no others, and in the form that clients see.
        var isLoggedAsAnswered = false
        var coercions: [Coercion] = []
        /// Whether it wrote a field that no change tells of; views may show what is computed from it.
        var hasOmittedWrite = false
        /// Whether any of its events asked to be durable.
        var persists = false
        /// What follows it; nil: nothing.
        var effects: AnyObject?
        /// Whether the next event waits for these.
        var holdsQueue = false
        /// The count to which the dispatch belongs, when an effect brought it forth at once.
        var chain: EffectChain?
        /// How it found the session elsewhere than its sender expected: it changed nothing, and says so when what it saw is visible.
        var mismatch: CursorMismatch?
    }

    init(
        state: OpaqueBox,
        position: Cursor.Position,
        size: StateSize,
        unlogged: [StateChange],
        entry: LogEntry? = nil,
        outcome: Outcome,
        bodyBytes: Int = 0,
        reply: @escaping SessionReply<DispatchAnswer>
    ) {
        self.state = state
        self.position = position
        self.size = size
        self.unlogged = unlogged
        self.entry = entry
        self.outcome = outcome
        self.bodyBytes = bodyBytes
        self.reply = reply
        memoryBytes = outcome.changes.memoryBytes + (entry?.byteCount ?? 0)
    }

    /// Has storage take the dispatch's answer with it.
    func keep(_ answer: KeptAnswer) {
        kept = answer
        memoryBytes += answer.byteCount
    }

    /// Whether the log has an entry of it; a pattern, because `!= nil` copies the entry.
    var isLogged: Bool { if case .some = entry { true } else { false } }

    /// Whether storage has to take anything before it is visible.
    var needsStorage: Bool {
        if isLogged { return true }
        if case .some = kept { return true }
        return false
    }

    /// Whether readers may see another state after it.
    var isVisible: Bool { !outcome.changes.isEmpty || outcome.hasOmittedWrite }
}
