// Owns the fit between event loops and sessions.

import RivuletEngine
import RivuletEventLoop

extension EventLoop: SessionExecutor {
    /// Whether the caller is on the loop's thread.
    package var isCurrent: Bool { isOnLoop }
}
