import FoundationEssentials
import RivuletServer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The replacement of this process by a new run of the same program.
enum ProcessRestart {
    /// The exit code of a process that does not begin again by itself: EX_TEMPFAIL of sysexits.h.
    static let giveUp: Int32 = 75

    /// Executes the program again, with the same arguments and environment; it returns only if that fails.
    ///
    /// All threads end, and all descriptors but standard input, output and error are closed.
    static func run(_ arguments: [String]) throws -> Never {
        closeOnExecution()
        fflush(nil)
        // The texts live until the process is replaced.
        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        #if os(Linux)
        // The link leads to the program of this process, also if another file has its path now.
        let program = "/proc/self/exe"
        #else
        let program = arguments.first ?? ""
        #endif
        _ = unsafe execv(program, words)
        throw ServerError(
            "the process cannot begin again: \(program): \(unsafe String(cString: strerror(errno))); start it again"
        )
    }

    private static func closeOnExecution() {
        #if os(Linux)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let descriptors = names.compactMap { Int32($0) }
        #else
        let descriptors = Array(0..<Int32(getdtablesize()))
        #endif
        for descriptor in descriptors where descriptor > STDERR_FILENO {
            // A descriptor of the listing itself is gone already.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }
}
