// Part of Rivulet. See README.md for the architecture.
// Owns what a group knows of each of its subscribers.

import RivuletEventLoop

/// A member of a group on this loop.
///
/// Small and in one array with its fellows: every delivery reads it.
struct Subscriber {
    let connection: ConnectionID
    /// The number of the first event of its group's log that it has not been given.
    var next: UInt64
    var state: SubscriberState
}
