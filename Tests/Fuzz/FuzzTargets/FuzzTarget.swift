/// One reader of bytes from outside, with conditions that must hold for all bytes.
///
/// Source: <https://llvm.org/docs/LibFuzzer.html>.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Requests of one connection, in pieces of random sizes.
    case http
    /// Header fields that have a grammar.
    case fields
    /// Cookies.
    case cookies
    /// PROXY headers before a request.
    case proxy
    /// JSON texts.
    case json
    /// JSON pointers.
    case pointer
    /// Cursors.
    case cursor
    /// Names of streams.
    case stream
    /// The changes of a stored row.
    case changes
    /// The body of a stored snapshot.
    case snapshot

    /// Reads the bytes, and returns the condition that does not hold; nil if all hold.
    package func fault(in bytes: [UInt8]) -> String? {
        switch self {
        case .http: ConnectionFuzz.fault(in: bytes)
        case .fields: FieldFuzz.fault(inFields: bytes)
        case .cookies: FieldFuzz.fault(inCookies: bytes)
        case .proxy: ProxyFuzz.fault(in: bytes)
        case .json: JSONFuzz.fault(inText: bytes)
        case .pointer: JSONFuzz.fault(inPointer: bytes)
        case .cursor: NameFuzz.fault(inCursor: bytes)
        case .stream: NameFuzz.fault(inStream: bytes)
        case .changes: RowFuzz.fault(inChanges: bytes)
        case .snapshot: RowFuzz.fault(inSnapshot: bytes)
        }
    }
}
