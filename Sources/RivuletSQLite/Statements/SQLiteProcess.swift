internal import CSQLite
internal import Glibc
internal import Synchronization

/// The settings of SQLite that apply to the whole process.
package enum SQLiteProcess {
    /// Disables SQLite's memory statistics, which take a lock at each allocation.
    ///
    /// The program calls this before it starts a thread. A library must not call it: another user of SQLite in the
    /// process may want the statistics.
    /// Source: <https://sqlite.org/compile.html#recommended_compile_time_options>
    package static func forbidMemoryCount() { rivulet_sqlite_forbid_memory_count() }

    /// Adds the system's error of a failed system call to SQLite errors.
    ///
    /// The program calls this before it starts a thread. A library must not call it: another user of SQLite in the
    /// process may want the messages. Without this setting, the system's error is missing if SQLite has closed the file
    /// meanwhile. Source: <https://sqlite.org/errlog.html>
    package static func recordCauses() {
        unsafe rivulet_sqlite_send_messages { _, code, message in
            guard let message = unsafe message,
                let number = SQLiteProcess.systemError(in: unsafe String(cString: message))
            else { return }
            SQLiteProcess.lastCause.withLock { $0 = Cause(thread: pthread_self(), code: code, number: number) }
        }
    }

    private struct Cause {
        let thread: pthread_t
        let code: Int32
        let number: Int32
    }

    private static let lastCause = Mutex(Cause?.none)

    /// Returns the number in a message such as `os_unix.c:3500: (28) full_fsync(…) - No space left on device`; nil for
    /// other messages.
    package static func systemError(in message: String) -> Int32? {
        guard message.hasPrefix("os_unix.c:"), let start = message.firstIndex(of: "("),
            let end = message[start...].firstIndex(of: ")")
        else { return nil }
        return Int32(message[message.index(after: start)..<end])
    }

    /// Returns the system's error of the last failed call, once.
    ///
    /// The result is nil if another thread made the call, or if the call failed with another kind of code.
    static func takeCause(of code: Int32) -> Int32? {
        lastCause.withLock { cause in
            guard let last = cause, last.thread == pthread_self(), last.code & 0xff == code & 0xff else { return nil }
            cause = nil
            return last.number
        }
    }
}
