/// What a connection is waiting for, so how long it may take; `HTTPLimits.time(of:)` says how long that is.
package enum HTTPDeadline: Hashable, Sendable {
    /// The first byte of a request.
    case idle
    /// The end of a head that has begun.
    case head
    /// The end of a body.
    case body
}
