import RivuletEngine
import RivuletJSON

/// A dispatch that waits for its turn to be reduced.
final class QueuedDispatch {
    let input: Input
    /// Whether its sender numbers the events, from 0.
    let isArray: Bool
    /// Where the session has to stand; empty for anywhere.
    let expected: [Cursor]
    /// Whether anything that a wrapper changes refuses it.
    let isStrict: Bool
    /// Keeps the answer, when its sender may ask again.
    let keeper: AnswerKeeper?
    /// The effect that it comes from; nil for one from outside.
    let source: EffectSource?
    /// The bytes of its body, which count as waiting until it is answered.
    let bodyBytes: Int
    let reply: SessionReply<DispatchAnswer>

    enum Input {
        case events(DecodedEvents)
        /// An event of the engine, in the place of events of the app.
        case replacement(Replacement)
    }

    init(
        _ input: Input,
        isArray: Bool = false,
        expected: [Cursor] = [],
        isStrict: Bool = false,
        keeper: AnswerKeeper? = nil,
        source: EffectSource? = nil,
        bodyBytes: Int = 0,
        reply: @escaping SessionReply<DispatchAnswer>
    ) {
        self.input = input
        self.isArray = isArray
        self.expected = expected
        self.isStrict = isStrict
        self.keeper = keeper
        self.source = source
        self.bodyBytes = bodyBytes
        self.reply = reply
    }

    /// Whether its change has to be durable.
    var persists: Bool {
        switch input {
        case .events(let events): events.persists
        case .replacement: true
        }
    }

    var eventCount: Int {
        switch input {
        case .events(let events): events.count
        case .replacement: 1
        }
    }
}

/// An event of the engine that waits for its turn.
struct Replacement {
    let event: EngineEvent
    /// The stored fields of the version that is restored; empty for a reset.
    let document: [UInt8]
}
