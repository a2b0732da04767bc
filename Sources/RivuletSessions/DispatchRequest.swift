// Part of Rivulet. See README.md for the architecture.
// Owns what a client asks of a dispatch.

/// One dispatch: one event, or an array of events as one transaction.
package struct DispatchRequest: Sendable {
    /// The JSON text.
    package let body: [UInt8]
    /// Where the session has to stand, from `If-Match`; empty for anywhere.
    package let expected: [Cursor]
    /// Whether anything that a wrapper would change refuses the dispatch.
    package let isStrict: Bool

    package init(body: [UInt8], expected: [Cursor] = [], isStrict: Bool = false) {
        self.body = body
        self.expected = expected
        self.isStrict = isStrict
    }
}
