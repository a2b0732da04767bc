import Logging
import RivuletEventLoop

/// A thread that scans the public folder once a second, so that a file is served anew one to three seconds after it was
/// saved.
final class PublicFolderWatch: Sendable {
    private static let interval = Duration.seconds(1)

    private let loop: EventLoop
    private let thread: LoopThread

    /// Begins the scans; nil if there is no folder, or if no thread can be started, which is logged.
    init?(of files: StaticFiles, logger: Logger) {
        guard files.hasFolder else { return nil }
        do throws(LoopError) {
            loop = try EventLoop(index: 0)
            loop.post { [loop] in Self.look(files, on: loop) }
            thread = try LoopThread(running: loop)
        } catch {
            logger.warning("changes of the public folder are not noticed until a restart: \(error)")
            return nil
        }
    }

    /// Ends the thread, and waits for it.
    func stop() {
        loop.post { [loop] in loop.stop() }
        thread.join()
    }

    private static func look(_ files: StaticFiles, on loop: EventLoop) {
        loop.schedule(after: interval) {
            files.look()
            look(files, on: loop)
        }
    }
}
