// Owns a loop on a separate thread.

import RivuletEventLoop

/// A loop that listens on a free port, by default of 127.0.0.1, and runs on a separate thread until `stop`.
struct LoopHarness: Sendable {
    let loop: EventLoop
    let port: UInt16
    let events = Handover<LoopEvent>()
    private let thread: LoopThread

    /// Starts the loop.
    ///
    /// `setUp` is called before it runs.
    init(
        host: String = "127.0.0.1",
        limits: LoopLimits = LoopLimits(),
        account: SharedBytes.Account? = nil,
        setUp: (EventLoop, RecordingDelegate) -> Void = { _, _ in }
    ) throws {
        loop = try EventLoop(index: 0, limits: limits, account: account)
        port = try loop.listen(host: host, port: 0)
        let delegate = RecordingDelegate(events: events)
        setUp(loop, delegate)
        loop.setDelegate(delegate)
        thread = try LoopThread(running: loop)
    }

    /// Calls `body` on the loop and waits for its result.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (EventLoop) -> Value) throws -> Value {
        let result = Handover<Value>()
        loop.post { [loop] in result.put(body(loop)) }
        return try result.take()
    }

    /// Stops the loop and waits for its end.
    func stop() {
        loop.post { [loop] in loop.stop() }
        thread.join()
    }

    /// The id of the connection that opens next.
    func nextOpened() throws -> ConnectionID {
        guard case .opened(let id) = try events.take() else { throw Handover<LoopEvent>.TimedOut() }
        return id
    }
}
