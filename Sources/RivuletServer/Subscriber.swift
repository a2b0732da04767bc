// Part of Rivulet. See README.md for the architecture.
// Owns what a group knows of each of its subscribers.

import RivuletEventLoop

/// How far a member of a group is.
struct Subscriber {
    /// The number of the first event of its group's log that it has not been given.
    var next: UInt64
    var state: SubscriberState
    /// Whether the last bytes it was sent are those of the event before `next`; always, where nothing is compressed.
    var isChained: Bool
}
