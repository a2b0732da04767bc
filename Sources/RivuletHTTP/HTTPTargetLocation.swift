// Part of Rivulet. See README.md for the architecture.
// Owns the places of a request target's parts.

/// Where the parts of the target stand in the header block.
struct HTTPTargetLocation: Sendable {
    var path: Range<Int>
    var query: Range<Int>?
    var authority: Range<Int>?
}
