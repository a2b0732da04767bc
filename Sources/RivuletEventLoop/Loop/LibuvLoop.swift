internal import CLibuv

/// A libuv loop, closed at the end of this value's life.
@safe
struct LibuvLoop: ~Copyable {
    // SAFETY: all three are valid, initialised handles from `init` to `deinit`, and never move.
    let pointer: UnsafeMutablePointer<uv_loop_t>
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private let timer: UnsafeMutablePointer<uv_timer_t>
    /// The event, held so that its descriptor is closed after the handle `poll`.
    private let wake: WakeEvent

    /// Makes an empty loop; the event ends its sleep.
    ///
    /// - Throws: `EMFILE` or `ENOMEM`; a loop needs two descriptors.
    init(wake: WakeEvent) throws(LoopError) {
        self.wake = wake
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: uv_loop_t())
        unsafe poll = .allocate(capacity: 1)
        unsafe poll.initialize(to: uv_poll_t())
        unsafe timer = .allocate(capacity: 1)
        unsafe timer.initialize(to: uv_timer_t())
        do throws(LoopError) {
            try check(unsafe uv_loop_init(pointer), "uv_loop_init")
            do throws(LoopError) {
                try check(unsafe uv_poll_init(pointer, poll, wake.descriptor), "uv_poll_init")
                try check(unsafe uv_timer_init(pointer, timer), "uv_timer_init")
                try startPolling()
            } catch {
                _ = unsafe uv_loop_close(pointer)
                throw error
            }
        } catch {
            unsafe pointer.deallocate()
            unsafe poll.deallocate()
            unsafe timer.deallocate()
            throw error
        }
    }

    deinit {
        unsafe uv_close(Self.base(poll), nil)
        unsafe uv_close(Self.base(timer), nil)
        while unsafe uv_run(pointer, UV_RUN_DEFAULT) != 0 {}
        let status = unsafe uv_loop_close(pointer)
        precondition(status == 0, "a libuv loop was closed with handles open: status \(status)")
        unsafe pointer.deallocate()
        unsafe poll.deallocate()
        unsafe timer.deallocate()
    }

    /// Watches the event, which only ends the sleep; `EventLoop` checks its mailbox in every turn.
    private func startPolling() throws(LoopError) {
        let status = unsafe uv_poll_start(
            poll,
            Int32(UV_READABLE.rawValue),
            { poll, _, _ in
                var descriptor: Int32 = -1
                let handle = unsafe UnsafeMutableRawPointer(poll)?.assumingMemoryBound(to: uv_handle_t.self)
                guard unsafe uv_fileno(handle, &descriptor) == 0 else { return }
                rivulet_event_clear(descriptor)
            }
        )
        try check(status, "uv_poll_start")
    }

    /// The milliseconds of the monotonic clock, as of this turn's poll.
    var now: UInt64 { unsafe uv_now(pointer) }

    /// Reads the clock again.
    func updateNow() { unsafe uv_update_time(pointer) }

    /// Polls once, and reports all events and then the closes.
    ///
    /// Sleeps until there is an event, unless `sleeps` is false.
    func poll(sleeps: Bool) { _ = unsafe uv_run(pointer, sleeps ? UV_RUN_ONCE : UV_RUN_NOWAIT) }

    /// Sets the time at which the sleep ends; nil sets no time.
    func setWake(at time: UInt64?) {
        guard let time else {
            // Neither call can fail on a timer that is not closing. Source: <https://docs.libuv.org/en/v1.x/timer.html>
            _ = unsafe uv_timer_stop(timer)
            return
        }
        // uv_run also calls due timers before it polls. uv_stop keeps that poll from sleeping.
        _ = unsafe uv_timer_start(timer, { unsafe uv_stop($0?.pointee.loop) }, time > now ? time - now : 0, 0)
    }

    private static func base<Kind>(_ handle: UnsafeMutablePointer<Kind>) -> UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
    }
}
