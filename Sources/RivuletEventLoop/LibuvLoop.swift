// Part of Rivulet. See README.md for the architecture.
// Owns the libuv loop itself with the two handles every loop has: the wake-up and the one timer.

internal import CLibuv

/// A libuv loop, closed with this value.
@safe
struct LibuvLoop: ~Copyable {
    // SAFETY: all three are valid, initialised handles from `init` to `deinit`, and never move.
    let pointer: UnsafeMutablePointer<uv_loop_t>
    let wake: UnsafeMutablePointer<uv_async_t>
    private let timer: UnsafeMutablePointer<uv_timer_t>

    /// A loop with nothing to do.
    ///
    /// - Throws: `EMFILE` or `ENOMEM`: it needs three descriptors.
    init() throws(LoopError) {
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: uv_loop_t())
        unsafe wake = .allocate(capacity: 1)
        unsafe wake.initialize(to: uv_async_t())
        unsafe timer = .allocate(capacity: 1)
        unsafe timer.initialize(to: uv_timer_t())
        do throws(LoopError) {
            try check(unsafe uv_loop_init(pointer), "uv_loop_init")
            do throws(LoopError) {
                // The wake-up only ends the sleep: `EventLoop` looks into its mailbox in every turn.
                try check(unsafe uv_async_init(pointer, wake) { _ in }, "uv_async_init")
                try check(unsafe uv_timer_init(pointer, timer), "uv_timer_init")
            } catch {
                _ = unsafe uv_loop_close(pointer)
                throw error
            }
        } catch {
            unsafe pointer.deallocate()
            unsafe wake.deallocate()
            unsafe timer.deallocate()
            throw error
        }
    }

    deinit {
        unsafe uv_close(Self.base(wake), nil)
        unsafe uv_close(Self.base(timer), nil)
        while unsafe uv_run(pointer, UV_RUN_DEFAULT) != 0 {}
        let status = unsafe uv_loop_close(pointer)
        precondition(status == 0, "a libuv loop was closed with handles open: status \(status)")
        unsafe pointer.deallocate()
        unsafe wake.deallocate()
        unsafe timer.deallocate()
    }

    /// Milliseconds of the monotonic clock, as of this turn's poll.
    var now: UInt64 { unsafe uv_now(pointer) }

    /// Reads the clock again.
    func updateNow() { unsafe uv_update_time(pointer) }

    /// Polls once: tells all events there are, and then the closes.
    ///
    /// Sleeps until there is one unless `sleeps` is false.
    func poll(sleeps: Bool) { _ = unsafe uv_run(pointer, sleeps ? UV_RUN_ONCE : UV_RUN_NOWAIT) }

    /// Ends the sleep at `time`, or lets it last.
    func setWake(at time: UInt64?) {
        guard let time else {
            // Neither call can fail on a timer that is not closing. Source: docs.libuv.org/en/v1.x/timer.html
            _ = unsafe uv_timer_stop(timer)
            return
        }
        // uv_run calls due timers before it polls, too; uv_stop keeps that poll from sleeping.
        _ = unsafe uv_timer_start(timer, { unsafe uv_stop($0?.pointee.loop) }, time > now ? time - now : 0, 0)
    }

    private static func base<Kind>(_ handle: UnsafeMutablePointer<Kind>) -> UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
    }
}
