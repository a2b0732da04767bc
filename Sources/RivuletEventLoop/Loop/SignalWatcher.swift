internal import CLibuv

/// One signal that a loop watches.
@safe
final class SignalWatcher {
    private let action: () -> Void
    // SAFETY: valid from `init` to `close`, which its loop calls once; libuv frees it in the close callback.
    private let signal: UnsafeMutablePointer<uv_signal_t>

    /// Calls `action` on `loop` each time the process gets the signal `number`; the loop must keep the watcher.
    init(number: Int32, loop: EventLoop, action: @escaping () -> Void) throws(LoopError) {
        self.action = action
        unsafe signal = .allocate(capacity: 1)
        unsafe signal.initialize(to: uv_signal_t())
        do throws(LoopError) {
            try check(unsafe uv_signal_init(loop.uv.pointer, signal), "uv_signal_init")
        } catch {
            unsafe signal.deallocate()
            throw error
        }
        unsafe signal.pointee.data = unsafe Unmanaged.passUnretained(self).toOpaque()
        let status = unsafe uv_signal_start(
            signal,
            { signal, _ in
                guard let data = unsafe signal?.pointee.data else { return }
                // SAFETY: `data` is the watcher, which its loop keeps until it has closed it.
                unsafe Unmanaged<SignalWatcher>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.action() }
            },
            number
        )
        do throws(LoopError) {
            try check(status, "uv_signal_start \(number)")
        } catch {
            close()
            throw error
        }
    }

    /// Ends the watch.
    func close() {
        unsafe uv_close(UnsafeMutableRawPointer(signal).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            unsafe UnsafeMutableRawPointer(handle)?.deallocate()
        }
    }
}

extension EventLoop {
    /// Calls `action` on the loop each time the process gets the signal `number`, instead of the signal's default
    /// action.
    ///
    /// Must be called before `run` or on the loop. SIGKILL and SIGSTOP cannot be watched.
    ///
    /// - Throws: `EINVAL` for a signal that cannot be watched.
    package func onSignal(_ number: Int32, _ action: @escaping () -> Void) throws(LoopError) {
        assertOnLoop()
        state.signals.append(try SignalWatcher(number: number, loop: self, action: action))
    }
}

/// The dispositions of the process's signals.
package enum ProcessSignals {
    /// Ignores a signal that would end the process; a handler that the program has set stays.
    package static func ignoreUnlessHandled(_ number: Int32) { rivulet_signal_ignore_default(number) }
}
