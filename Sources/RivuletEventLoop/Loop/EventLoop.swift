internal import CLibuv
internal import Glibc
internal import Synchronization

/// The event loop of one thread, over libuv.
///
/// Everything except `post`, `postReply`, `isOnLoop` and the constants is loop-bound. The loop's thread is the thread
/// that calls `run`. Before `run`, the thread that sets the loop up uses it. Connections have no Swift reference
/// counts, and a direct write to the kernel allocates nothing.
@safe
package final class EventLoop: @unchecked Sendable {
    // SAFETY: `mailbox` and `thread` are safe on any thread. All other state is used on the loop's thread only, which
    // `assertOnLoop` checks. Both allocations last from `init` to `deinit`.

    /// The loop's number among all loops, from 0.
    package let index: Int
    package let limits: LoopLimits
    /// The account of bytes that are copied because they have to wait.
    let account: SharedBytes.Account?

    let uv: LibuvLoop
    /// The buffer for the reads of all connections.
    let readBuffer: UnsafeMutableBufferPointer<UInt8>

    private let storedState: UnsafeMutablePointer<LoopState>
    private let mailbox: Mailbox
    private let thread = Atomic<UInt>(0)

    /// The state of the loop's thread.
    ///
    /// The state is stored outside of the class, because the dynamic exclusivity checks of a class were the largest
    /// cost of Swift in a delivery. Without these checks, no code may hold an access to the state during a call to
    /// other code.
    var state: LoopState {
        unsafeAddress { unsafe UnsafePointer(storedState) }
        unsafeMutableAddress { unsafe storedState }
    }

    /// Makes a loop that does nothing until `run`.
    ///
    /// - Parameters:
    ///   - index: The loop's number among all loops.
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
        unsafe storedState.initialize(
            to: LoopState(time: uv.now, bytesLeft: limits.bytesPerTurnMax, readsLeft: limits.readsPerTurnMax)
        )
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

    /// Sets the delegate that receives the loop's events; once, before `run`.
    ///
    /// The loop releases the delegate when `run` returns.
    package func setDelegate(_ delegate: any LoopDelegate) {
        precondition(state.delegate == nil, "loop \(index) has a delegate already")
        state.delegate = delegate
    }

    /// Runs the loop on the calling thread until `stop`; every connection is closed when it returns.
    ///
    /// A loop runs only once. Each turn reports events, lets the delegate write the results, and sleeps until there are
    /// new events. `loopWillSleep` is called after the events of a poll, the posted jobs and the due timers, and before
    /// the next poll.
    package func run() {
        beginRunning()
        while !state.isStopping {
            runPostedJobs()
            runDueTimers()
            // The check avoids a call, because most turns have no due connection.
            if !state.due.isEmpty { writeDue() }
            // The delegate may write at least a quarter of the turn's bytes, even after many earlier writes.
            state.directBytesLeft = max(state.directBytesLeft, limits.bytesPerTurnMax / 4)
            let wantsMore = state.delegate?.loopWillSleep() ?? false
            armWake()
            state.directBytesLeft = limits.bytesPerTurnMax / 2
            state.dueBytesLeft = limits.bytesPerTurnMax / 2
            (state.readsLeft, state.readsKept, state.firstRead) = (limits.readsPerTurnMax, 0, 0)
            if !state.resting.isEmpty { readOn() }
            // Jobs that this thread itself posted have not woken the loop.
            let isIdle = !wantsMore && state.due.isEmpty && state.resting.isEmpty && !state.isStopping
            uv.poll(sleeps: isIdle && mailbox.isEmpty)
        }
        endRunning()
    }

    /// Ends `run` after this turn; connections are closed with the reason `loopStopped`, and unsent bytes are dropped.
    ///
    /// From another thread use `loop.post { loop.stop() }`.
    package func stop() {
        assertOnLoop()
        state.isStopping = true
    }

    /// Runs `job` on the loop in its next turn.
    ///
    /// May be called on any thread. Jobs of one thread run in the order in which they were posted.
    ///
    /// Only a post from another thread to an empty mailbox wakes the loop by a system call, so a burst costs one call.
    /// `LoopLimits.postedJobsMax` bounds the mailbox as a last resort only. Callers are expected to have smaller
    /// bounds.
    ///
    /// - Returns: False if the job will never run, because the loop has ended or the mailbox is full.
    @discardableResult
    package func post(_ job: @escaping @Sendable () -> Void) -> Bool { mailbox.post(job, wakes: !isOnLoop) }

    /// Runs a job that code on the loop waits for; a full mailbox accepts it too.
    ///
    /// - Returns: False if the loop has ended.
    @discardableResult
    package func postReply(_ job: @escaping @Sendable () -> Void) -> Bool {
        mailbox.post(job, wakes: !isOnLoop, isBounded: false)
    }

    /// True if the caller is on the loop's thread.
    ///
    /// May be called on any thread.
    package var isOnLoop: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Stops the program unless the caller is on the loop's thread, or the loop does not run yet.
    package func assertOnLoop() {
        precondition(
            isOnLoop || thread.load(ordering: .relaxed) == 0,
            "loop \(index) is used from a thread that is not its own"
        )
    }

    /// The time of this turn in milliseconds of the monotonic clock.
    package var nowMilliseconds: UInt64 { uv.now }

    /// The time at which this turn's work began, in the same milliseconds.
    ///
    /// libuv updates its clock while it polls, if more than 1,024 connections have events.
    package var turnMilliseconds: UInt64 {
        state.firstRead > 0 ? min(state.firstRead, uv.now) : uv.now
    }

    /// Calls a closure with the loop of a libuv handle, without counting a reference.
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
        endConnecting()
        for id in state.connections.ids { close(id, .loopStopped) }
        while state.connections.count > 0 { uv.poll(sleeps: false) }
        endWorks()
        let unrun = mailbox.close()
        state.delegate = nil
        _ = consume unrun
    }

    private func closeListenersAndSignals() {
        stopListening()
        for signal in state.signals { signal.close() }
        state.signals = []
    }

    /// The maximum number of bytes of one read, and so of one connection in one turn.
    private static let bytesPerRead = 65_536
    /// The size above which a batch releases its memory.
    private static let batchCapacityKept = 4_096
}

/// The state of a loop's thread.
struct LoopState: ~Copyable {
    var connections = ConnectionTable()
    var listeners: [Listener] = []
    var signals: [SignalWatcher] = []
    var timers: TimerWheel<() -> Void>
    /// The time at which libuv's timer ends the sleep; nil if the timer is not armed.
    var armedWake: UInt64?
    /// True if a timer was scheduled that is due before `armedWake`.
    var mustArmWake = false
    /// The number of bytes that may still be written directly in this turn.
    var directBytesLeft: Int
    /// The number of bytes of queues that may still be written in this turn.
    var dueBytesLeft: Int
    /// The number of connections that may still be read in this turn, in addition to the reads in `readsKept`.
    var readsLeft: Int
    /// The number of reads in this turn that are reserved for connections that rested.
    var readsKept = 0
    /// The time of the first read in this turn; 0 if there was none.
    var firstRead: UInt64 = 0
    /// The connections with queued bytes for which the kernel may have room, in the order in which their parts are due.
    var due: [ConnectionID] = []
    /// The connections that are read again in later turns: they filled the read buffer, or the turn had no reads left.
    var resting: [ConnectionID] = []
    var delegate: (any LoopDelegate)?
    /// The posted jobs that run in this turn; later turns use the array's memory again.
    var batch: [Mailbox.Job] = []
    /// The jobs on work threads.
    var works: [ObjectIdentifier: WorkRequest] = [:]
    /// The outgoing connections that are not made yet.
    var outgoing: [ObjectIdentifier: OutgoingConnection] = [:]
    var isStopping = false

    /// Makes the state of a loop at a time.
    init(time: UInt64, bytesLeft: Int, readsLeft: Int) {
        self.readsLeft = readsLeft
        timers = TimerWheel(time: time)
        (directBytesLeft, dueBytesLeft) = (bytesLeft / 2, bytesLeft / 2)
    }
}
