import RivuletEngine
import RivuletJSON

/// A dispatch that waits for its turn to be reduced.
final class QueuedDispatch {
    /// The app's rule may replace the events that a client sent.
    var input: Input
    /// True if the sender sent an array; a rejection then has the index of the rejected event.
    let isArray: Bool
    /// The expected cursors; the session's position must match one of them.
    ///
    /// An empty array accepts any position.
    let expected: [Cursor]
    /// True if the dispatch is refused when a wrapper would change a value.
    let isStrict: Bool
    /// The caller; nil on a server that asks for no credentials, and for events of the app itself.
    let sender: DispatchSender?
    /// Makes the idempotency record of the answer; nil if the sender sent no idempotency key.
    let recorder: IdempotencyRecorder?
    /// The effect that dispatched it; nil for a dispatch from outside.
    let source: EffectSource?
    /// The bytes of the dispatch's body, which are part of the session's waiting bytes until the dispatch is answered.
    let bodyBytes: Int
    let reply: SessionReply<DispatchAnswer>
    /// The bytes of a restored version's document, which are part of the waiting bytes until the dispatch is reduced.
    var document: SessionMachine.HeldBody?

    enum Input {
        case events(DecodedEvents)
        /// An engine event, in place of events of the app.
        case replacement(Replacement)
    }

    init(
        _ input: Input,
        isArray: Bool = false,
        expected: [Cursor] = [],
        isStrict: Bool = false,
        sender: DispatchSender? = nil,
        recorder: IdempotencyRecorder? = nil,
        source: EffectSource? = nil,
        bodyBytes: Int = 0,
        reply: @escaping SessionReply<DispatchAnswer>
    ) {
        self.input = input
        self.isArray = isArray
        self.expected = expected
        self.isStrict = isStrict
        self.sender = sender
        self.recorder = recorder
        self.source = source
        self.bodyBytes = bodyBytes
        self.reply = reply
    }

    /// True if the changes of the dispatch have to be durable.
    var persists: Bool {
        switch input {
        case .events(let events): events.persists
        case .replacement: true
        }
    }
}

/// An engine event that waits for its turn.
struct Replacement {
    let event: EngineEvent
    /// The stored fields of the version that is restored; empty for a reset.
    let document: [UInt8]
}
