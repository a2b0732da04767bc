internal import CLibuv
internal import Glibc
internal import Synchronization

/// One thread's event loop over libuv.
///
/// Everything but `post`, `isOnLoop` and the constants belongs to the loop's thread: the one that calls `run`, or,
/// before `run`, the one that sets the loop up. Connections live outside Swift's reference counting, and no method
/// allocates when a write goes straight to the kernel.
@safe
package final class EventLoop: @unchecked Sendable {
    // SAFETY: `mailbox` and `thread` are safe for any thread; all other state is used on the loop's thread only, which
    // `assertOnLoop` checks. Both allocations last from `init` to `deinit`.

    /// The loop's number among its fellows, from 0.
    package let index: Int
    package let limits: LoopLimits
    /// Counts the bytes that are copied because they have to wait.
    let account: SharedBytes.Account?

    let uv: LibuvLoop
    /// Where every connection's bytes are read to.
    let readBuffer: UnsafeMutableBufferPointer<UInt8>

    private let storedState: UnsafeMutablePointer<LoopState>
    private let mailbox: Mailbox
    private let thread = Atomic<UInt>(0)

    /// What the loop's thread owns.
    ///
    /// It stands behind a pointer because the dynamic exclusivity checks of a class were the largest cost of Swift on the
    /// way of a delivery. So nothing may hold an access to it while it calls out.
    var state: LoopState {
        unsafeAddress { unsafe UnsafePointer(storedState) }
        unsafeMutableAddress { unsafe storedState }
    }

    /// A loop that does nothing until `run`.
    ///
    /// - Parameters:
    ///   - index: The loop's number among its fellows.
    ///   - limits: Its limits.
    ///   - account: Counts the bytes that are copied because they have to wait for the kernel.
    /// - Throws: `EMFILE` or `ENOMEM`.
    package init(
        index: Int,
        limits: LoopLimits = LoopLimits(),
        account: SharedBytes.Account? = nil
    ) throws(LoopError) {
        rivulet_ignore_sigpipe()
        self.index = index
        self.limits = limits
        self.account = account
        let wake = try WakeEvent()
        uv = try LibuvLoop(wake: wake)
        unsafe storedState = .allocate(capacity: 1)
        unsafe storedState.initialize(to: LoopState(time: uv.now, bytesLeft: limits.bytesPerTurnMax))
        mailbox = Mailbox(wake: wake, jobsMax: limits.postedJobsMax)
        unsafe readBuffer = .allocate(capacity: Self.bytesPerRead)
        unsafe readBuffer.initialize(repeating: 0)
        unsafe uv.pointer.pointee.data = unsafe Unmanaged.passUnretained(self).toOpaque()
        Connection.checkLayout()
    }

    deinit {
        _ = mailbox.close()
        closeListenersAndSignals()
        unsafe readBuffer.deallocate()
        unsafe storedState.deinitialize(count: 1)
        unsafe storedState.deallocate()
    }

    /// Says who takes the loop's events; once, before `run`.
    ///
    /// The loop lets go of it when `run` returns.
    package func setDelegate(_ delegate: any LoopDelegate) {
        precondition(state.delegate == nil, "loop \(index) has a delegate already")
        state.delegate = delegate
    }

    /// Runs the loop on the calling thread until `stop`; every connection is closed when it returns.
    ///
    /// Once per loop.
    ///
    /// Each turn tells what has happened, lets the delegate write what follows from it, and sleeps until there is more:
    /// posted jobs and due timers are followed by `loopWillSleep` in the same turn, as is everything that polling tells.
    package func run() {
        beginRunning()
        while !state.isStopping {
            runPostedJobs()
            runDueTimers()
            // Looked at here: most turns have neither.
            if !state.due.isEmpty { writeDue() }
            // What came before in this turn leaves some bytes for what the delegate writes now.
            state.directBytesLeft = max(state.directBytesLeft, limits.bytesPerTurnMax / 4)
            let wantsMore = state.delegate?.loopWillSleep() ?? false
            armWake()
            if !state.resting.isEmpty { readOn() }
            state.directBytesLeft = limits.bytesPerTurnMax / 2
            state.dueBytesLeft = limits.bytesPerTurnMax / 2
            // Jobs that were posted by this thread have not woken it.
            uv.poll(sleeps: !wantsMore && state.due.isEmpty && !state.isStopping && mailbox.isEmpty)
        }
        endRunning()
    }

    /// Ends `run` after this turn: connections are closed with the reason `loopStopped` and unsent bytes are dropped.
    ///
    /// From another thread: `loop.post { loop.stop() }`.
    package func stop() {
        assertOnLoop()
        state.isStopping = true
    }

    /// Runs `job` on the loop in its next turn.
    ///
    /// Any thread; jobs of one poster run in the order they were posted.
    ///
    /// The kernel is asked to wake the loop only by other threads, and when the mailbox was empty, so a burst costs one call. The mailbox is
    /// bounded by `LoopLimits.postedJobsMax` as a last resort only: posters are expected to have smaller bounds.
    ///
    /// - Returns: False when the job will never run: the loop has ended, or the mailbox is full.
    @discardableResult
    package func post(_ job: @escaping @Sendable () -> Void) -> Bool { mailbox.post(job, wakes: !isOnLoop) }

    /// Whether the caller is on the loop's thread.
    ///
    /// Any thread.
    package var isOnLoop: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Stops the program unless the caller is on the loop's thread, or the loop does not run yet.
    package func assertOnLoop() {
        precondition(
            isOnLoop || thread.load(ordering: .relaxed) == 0,
            "loop \(index) is used from a thread that is not its own"
        )
    }

    /// The time of this turn in milliseconds of the monotonic clock; it does not move within a turn.
    package var nowMilliseconds: UInt64 { uv.now }

    /// The loop that a libuv handle belongs to, without counting a reference.
    static func withLoop(of loop: UnsafeMutablePointer<uv_loop_t>?, _ body: (EventLoop) -> Void) {
        guard let data = unsafe loop?.pointee.data else { return }
        // SAFETY: `data` is the loop that owns the libuv loop, and callbacks only come from within its `run`.
        unsafe Unmanaged<EventLoop>.fromOpaque(data)._withUnsafeGuaranteedRef { body($0) }
    }

    private func beginRunning() {
        let (isFirst, _) = thread.compareExchange(expected: 0, desired: UInt(pthread_self()), ordering: .relaxed)
        precondition(isFirst, "loop \(index) is run a second time")
        uv.updateNow()
    }

    private func runPostedJobs() {
        var batch = exchange(&state.batch, with: [])
        mailbox.take(into: &batch)
        for job in batch { job() }
        batch.removeAll(keepingCapacity: batch.count <= Self.batchCapacityKept)
        state.batch = batch
    }

    private func endRunning() {
        closeListenersAndSignals()
        for id in state.connections.ids { close(id, .loopStopped) }
        while state.connections.count > 0 { uv.poll(sleeps: false) }
        let unrun = mailbox.close()
        state.delegate = nil
        _ = consume unrun
    }

    private func closeListenersAndSignals() {
        stopListening()
        for signal in state.signals { signal.close() }
        state.signals = []
    }

    /// The most bytes that one connection is read in one turn.
    private static let bytesPerRead = 65_536
    /// A batch larger than this gives its memory back.
    private static let batchCapacityKept = 4_096
}

/// What a loop's thread owns.
struct LoopState: ~Copyable {
    var connections = ConnectionTable()
    var listeners: [Listener] = []
    var signals: [SignalWatcher] = []
    var timers: TimerWheel<() -> Void>
    /// When libuv's timer ends the sleep; nil while it is not armed.
    var armedWake: UInt64?
    /// Whether a timer was scheduled that is due before `armedWake`.
    var mustArmWake = false
    /// How many bytes may still be written directly in this turn.
    var directBytesLeft: Int
    /// How many bytes of queues may still be written in this turn.
    var dueBytesLeft: Int
    /// The connections with queued bytes for which the kernel may have room, in the order of their turns.
    var due: [ConnectionID] = []
    /// The connections that are read on in the next turn: they had more than one read has room for.
    var resting: [ConnectionID] = []
    var delegate: (any LoopDelegate)?
    /// The posted jobs that run in this turn; its memory is used again.
    var batch: [Mailbox.Job] = []
    var isStopping = false

    /// The state of a loop that is at this time.
    init(time: UInt64, bytesLeft: Int) {
        timers = TimerWheel(time: time)
        (directBytesLeft, dueBytesLeft) = (bytesLeft / 2, bytesLeft / 2)
    }
}
