import RivuletEngine
import RivuletObservation

/// A dispatch that is reduced and not visible yet.
///
/// It holds the whole state after the dispatch. States share their unchanged parts, so only the parts that the dispatch
/// changed take memory. It is a class, because it stands in a queue and is passed on often.
final class PendingDispatch {
    /// The state after the dispatch.
    let state: OpaqueBox
    /// The position of the session after the dispatch.
    let position: Cursor.Position
    /// The size of the state after the dispatch.
    let size: StateSize
    /// Changes that transient events made to stored fields, and that no log entry up to this dispatch includes.
    let unlogged: [StateChange]
    /// The log entry to store; nil for transient events and for dispatches that changed nothing.
    let entry: LogEntry?
    let outcome: Outcome
    /// The idempotency record of the dispatch's answer; nil if the sender sent no idempotency key.
    ///
    /// Storage writes it in one transaction with the log entry.
    private(set) var kept: IdempotencyRecord?
    /// The bytes of the dispatch's body, which are part of the session's waiting bytes until the dispatch is answered.
    let bodyBytes: Int
    let reply: SessionReply<DispatchAnswer>
    /// The approximate memory of the dispatch in bytes, without its state, which shares memory with other states.
    private(set) var memoryBytes: Int

    /// The outcome of the reduction.
    struct Outcome {
        var changes: [StateChange] = []
        /// The changes that the sender may see; nil for all of them.
        var shown: [StateChange]?
        /// True if the log entry has exactly these changes, in the form that clients see.
        var isLoggedAsAnswered = false
        var coercions: [Coercion] = []
        /// True if the dispatch wrote an omitted field, which is in no change; views may show values that are computed
        /// from it.
        var hasOmittedWrite = false
        /// True if the changes of the dispatch have to be durable.
        var persists = false
        /// The effects of the dispatch; nil if there are none.
        var effects: AnyObject?
        /// True if the next event waits for these effects.
        var holdsQueue = false
        /// The chain of `.dispatch` effects to which the dispatch belongs; nil if no such effect sent it.
        var chain: EffectChain?
        /// The reason why none of the cursors that the sender expected matches; nil if one of them matches.
        ///
        /// A dispatch with a mismatch changes nothing, and is refused once the state that was compared is visible.
        var mismatch: CursorMismatch?
        /// The caller, if it may see a part of the state only.
        var sender: DispatchSender?
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

    /// Adds the idempotency record that storage takes with the dispatch.
    func keep(_ answer: IdempotencyRecord) {
        kept = answer
        memoryBytes += answer.byteCount
    }

    /// True if the dispatch has a log entry; a pattern match, because `!= nil` copies the entry.
    var isLogged: Bool { if case .some = entry { true } else { false } }

    /// True if storage has to write anything before the dispatch is visible.
    var needsStorage: Bool {
        if isLogged { return true }
        if case .some = kept { return true }
        return false
    }

    /// True if readers may see another state after the dispatch.
    var isVisible: Bool { !outcome.changes.isEmpty || outcome.hasOmittedWrite }
}
