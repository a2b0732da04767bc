internal import CLibuv
internal import Glibc

/// Settings of the whole process that keep turns short and memory small; they must be set before any loop runs.
package enum ProcessSettings {
    /// Makes large blocks of memory return to the system as soon as they are freed.
    package static func returnLargeBlocks() { rivulet_return_large_blocks() }

    /// The number of descriptors for files, listeners and the loops themselves.
    private static let otherDescriptors = 1_024

    /// Makes the kernel reserve descriptors for a number of connections now, within the process's limit.
    ///
    /// When Linux doubles the descriptor table of a process with several threads, the call that needs the room sleeps
    /// for 10 to 50 ms. Such a call is `accept`, and all connections of the loop wait for it. The table never shrinks,
    /// and takes 8 bytes for each descriptor.
    ///
    /// Source: <https://github.com/torvalds/linux/blob/master/fs/file.c>, expand_fdtable
    package static func reserveDescriptors(_ count: Int) {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let last = min(min(count, Int(Int32.max) / 2) + Self.otherDescriptors, Int(clamping: limit.rlim_cur)) - 1
        let event = rivulet_event()
        guard event >= 0 else { return }
        // If this fails, nothing can be done: the table grows when it must, as without this call.
        let highest = fcntl(event, F_DUPFD_CLOEXEC, Int32(clamping: last))
        if highest >= 0 { close(highest) }
        close(event)
    }
}
