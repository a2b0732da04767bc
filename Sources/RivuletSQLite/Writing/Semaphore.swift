internal import Glibc
internal import RivuletStores

/// A counting semaphore of the system.
@safe final class Semaphore: @unchecked Sendable {
    // SAFETY: the address is constant, allocated in init and freed in deinit. sem_t is made for use by many threads. No
    // thread waits when the last reference is released.
    private let handle: UnsafeMutablePointer<sem_t>

    init() {
        unsafe handle = .allocate(capacity: 1)
        let result = unsafe sem_init(handle, 0, 0)
        precondition(result == 0, "sem_init failed with errno \(errno)")
    }

    deinit {
        unsafe sem_destroy(handle)
        unsafe handle.deallocate()
    }

    /// Wakes one waiting thread.
    func signal() {
        unsafe sem_post(handle)
    }

    /// Sleeps until a signal.
    func wait() {
        while unsafe sem_wait(handle) != 0, errno == EINTR {}
    }

    /// Sleeps until a signal, or for the given time; returns false if no signal came.
    func wait(milliseconds: Int) -> Bool {
        // The clock's fraction of a millisecond is cut off. One millisecond is added, so that the sleep is not shorter.
        let end = Int(WallClock.milliseconds()) + min(milliseconds, Int.max / 2) + 1
        var deadline = timespec(tv_sec: end / 1_000, tv_nsec: end % 1_000 * 1_000_000)
        while unsafe sem_timedwait(handle, &deadline) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }
}
