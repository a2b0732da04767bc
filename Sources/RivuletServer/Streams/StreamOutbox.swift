/// The messages of one loop's sources to the loops of their streams: one post per loop and turn, and one batch per
/// other node and turn.
final class StreamOutbox {
    private let core: LoopCore
    private let streams: StreamDriver
    /// The messages for each other loop in this turn, by its index.
    private var messages: [Int: [StreamMessage]] {
        _read { yield unsafe storedMessages }
        _modify { yield unsafe &storedMessages }
    }
    // SAFETY: one loop has the outbox, and no access calls other code, so accesses never overlap. Each turn flushes the
    // outbox, and nearly always it is empty.
    @exclusivity(unchecked) private var storedMessages: [Int: [StreamMessage]] = [:]

    init(_ core: LoopCore, _ streams: StreamDriver) {
        self.core = core
        self.streams = streams
    }

    /// Passes a message to a loop, at once if it is this loop.
    func send(_ message: StreamMessage, to index: Int) {
        guard index != core.index else { return streams.take(message) }
        messages[index, default: []].append(message)
    }

    /// Posts the messages for other loops; `sendRemote` gets those for the loops of one other node.
    func flush(_ sendRemote: (_ messages: [(loop: Int, message: StreamMessage)], _ slot: Int) -> Void) {
        guard !messages.isEmpty else { return }
        var remote: [Int: [(loop: Int, message: StreamMessage)]] = [:]
        for (index, messages) in exchange(&messages, with: [:]) {
            guard index < RemoteLoop.indexMin else {
                let loop = RemoteLoop.loop(of: index)
                remote[RemoteLoop.slot(of: index), default: []] += messages.map { (loop, $0) }
                continue
            }
            core.tell(index) { $0.streams.take(messages) }
        }
        for (slot, messages) in remote { sendRemote(messages, slot) }
    }
}
