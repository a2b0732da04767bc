package import RivuletEngine
package import RivuletJSON

/// One dispatch: one event, an array of events as one transaction, a value for a bound key path, or an event of the
/// engine.
package struct DispatchRequest: Sendable {
    /// The JSON text.
    package let body: [UInt8]
    /// The event of the engine; nil if the body has events of the app, or a value for a binding.
    package let engineEvent: EngineEvent?
    /// The cursors from `If-Match`; the session's position must match one of them.
    ///
    /// An empty array accepts any position.
    package let expected: [Cursor]
    /// The bound key path to which the body's value is written; nil if the body is not a value for a binding.
    package let boundPath: JSONPointer?
    /// True if the dispatch is refused when a wrapper would change a value.
    package let isStrict: Bool
    /// The caller with its permissions; nil on a server that asks for no credentials.
    package let sender: DispatchSender?

    package init(
        body: [UInt8],
        boundPath: JSONPointer? = nil,
        expected: [Cursor] = [],
        isStrict: Bool = false,
        sender: DispatchSender? = nil
    ) {
        self.body = body
        self.boundPath = boundPath
        engineEvent = nil
        self.expected = expected
        self.isStrict = isStrict
        self.sender = sender
    }

    /// True if the body, which is JSON, is an array of events.
    var isArray: Bool {
        boundPath == nil && body.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "[")
    }

    /// Makes a request for an event of the engine; the body is the event's form in the log.
    package init(
        _ event: EngineEvent,
        expected: [Cursor] = [],
        isStrict: Bool = false,
        sender: DispatchSender? = nil
    ) {
        body = event.json
        engineEvent = event
        boundPath = nil
        self.expected = expected
        self.isStrict = isStrict
        self.sender = sender
    }
}
