// Part of Rivulet. See README.md for the architecture.
// Owns the error of this room: why a request cannot be read, and the status that says so.

/// A request that was refused before it reached a route.
///
/// The connection cannot be used afterwards: where the next request would begin is unknown. Write the answer, then
/// close with a linger, so that the answer is not lost to a reset while the peer still sends.
package struct HTTPRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The status to answer with: 400, 408, 413, 414, 417, 431, 501 or 505.
    package let status: HTTPStatus
    /// What was wrong, in one sentence that quotes no bytes of the request.
    package let detail: String

    /// A refusal with this status and this explanation.
    package init(_ status: HTTPStatus, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    package var description: String { "\(status.code) \(status.reason): \(detail)" }

    /// A 400 with this explanation.
    static func malformed(_ detail: String) -> HTTPRefusal { HTTPRefusal(.badRequest, detail) }
}
