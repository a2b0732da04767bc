internal import CSQLite
internal import Glibc
internal import RivuletSessions
internal import Synchronization

/// A thread that runs one function.
final class WorkerThread: Sendable {
    private let thread: Mutex<pthread_t?>

    /// Starts the thread; `name` has at most 15 bytes.
    init(name: String, body: sending @escaping () -> Void) throws(StorageError) {
        // SAFETY: the body is retained here. The new thread releases it, or the code below if no thread started.
        // `sending` gives the closure to the thread.
        let context = unsafe Unmanaged.passRetained(Body(name: name, function: body))
        var started = pthread_t()
        let code = unsafe pthread_create(
            &started,
            nil,
            { context in
                if let context = unsafe context {
                    unsafe WorkerThread.run(Unmanaged<Body>.fromOpaque(context))
                }
                return nil
            },
            context.toOpaque()
        )
        guard code == 0 else {
            unsafe context.release()
            let reason = unsafe String(cString: strerror(code))
            throw .unavailable(detail: "cannot start the thread \(name): \(reason); raise this user's process limit")
        }
        thread = Mutex(started)
    }

    /// Waits until the function has returned and its captured values are released.
    ///
    /// A call on the thread itself does not wait, because it would wait forever.
    func join() {
        guard let thread = thread.withLock({ $0.take() }) else { return }
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    private final class Body {
        let name: String
        let function: () -> Void

        init(name: String, function: @escaping () -> Void) {
            self.name = name
            self.function = function
        }
    }

    private static func run(_ body: Unmanaged<Body>) {
        let body = unsafe body.takeRetainedValue()
        unsafe rivulet_sqlite_name_this_thread(body.name)
        body.function()
    }
}
