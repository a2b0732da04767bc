import RivuletEventLoop
import RivuletHTTP

/// The facts about a request that only the node knows that took it.
struct ForwardedFacts: Sendable, Equatable {
    /// The address of the client; proxies are resolved.
    let address: PeerAddress.IP
    /// The session that stands for `me` in the path; nil if the path has none.
    let me: String?
    /// True if the request may create a session by its caller's limits.
    let mayCreate: Bool
}

/// A request on its way to the node that performs it: the facts, and the bytes of its head and its body.
///
/// The node with the connection keeps what concerns the connection: the version, the coding, cookies and limits.
struct ForwardedRequest {
    let facts: ForwardedFacts
    /// The request as HTTP/1 writes it, with a `Content-Length` for a body.
    let bytes: [UInt8]

    /// The fields that are not passed on: those of the connection and of the body's coding, and those of proxies,
    /// because `ForwardedFacts.address` is their result.
    private static let ownFields: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "content-length", "expect", "te",
        "trailer", "upgrade", "forwarded", "x-forwarded-for", "x-forwarded-proto",
    ]

    /// Takes a complete request; `trace` is that of the request, if its head names none.
    init(_ request: HTTPRequest, _ facts: ForwardedFacts, trace: TraceParent?) {
        self.facts = facts
        var fields: [HTTPField] = []
        if !request.body.isEmpty { fields.append(HTTPField("content-length", "\(request.body.count)")) }
        if let trace, !request.hasTraceParent { fields.append(HTTPField(TraceParent.fieldName, trace.text)) }
        bytes = request.head(without: Self.ownFields, adding: fields) + request.body
    }

    /// Reads the content of a message.
    init(_ content: [UInt8]) throws(MalformedMessageError) {
        var reader = MessageReader(content[...])
        let flags = try reader.byte()
        let address = PeerAddress.IP(high: try reader.integer(UInt64.self), low: try reader.integer(UInt64.self))
        let me = try reader.text()
        guard flags <= 1 else { throw MalformedMessageError() }
        facts = ForwardedFacts(address: address, me: me.isEmpty ? nil : me, mayCreate: flags == 1)
        bytes = Array(reader.rest())
    }

    /// The content of a message.
    var content: [UInt8] {
        var writer = MessageWriter(capacity: bytes.count + 64)
        writer.byte(facts.mayCreate ? 1 : 0)
        writer.integer(facts.address.words.high)
        writer.integer(facts.address.words.low)
        writer.counted((facts.me ?? "").utf8)
        writer.rest(bytes)
        return writer.bytes
    }
}

/// The answer to a forwarded request, before it gets the form that its client accepts.
struct ForwardedAnswer {
    /// Facts about the answer for the limits of the node that took the request.
    struct Flags: OptionSet {
        let rawValue: UInt8

        /// The answer is a refusal.
        static let problem = Flags(rawValue: 1)
        /// The request has created a session.
        static let created = Flags(rawValue: 2)
        /// The request would have created a session, which its caller's limits do not allow.
        static let creationRefused = Flags(rawValue: 4)
    }

    /// The most fields of an answer.
    private static let fieldsMax = 64
    /// The fields that only the node with the connection writes.
    private static let framing: Set<String> = ["content-length", "transfer-encoding", "connection", "date"]

    let response: Response
    let flags: Flags

    init(_ response: Response, _ flags: Flags) { (self.response, self.flags) = (response, flags) }

    /// Reads the content of a message.
    init(_ content: [UInt8]) throws(MalformedMessageError) {
        var reader = MessageReader(content[...])
        let bits = try reader.byte()
        let status = try reader.integer(UInt16.self)
        let count = Int(try reader.integer(UInt16.self))
        guard bits < 16, (200...599).contains(status), count <= Self.fieldsMax else { throw MalformedMessageError() }
        var fields: [HTTPField] = []
        for _ in 0..<count {
            guard let field = HTTPField(checking: try reader.text(), try reader.text()),
                !Self.framing.contains(field.name.lowercased())
            else { throw MalformedMessageError() }
            fields.append(field)
        }
        var response = Response(HTTPStatus(status), fields: fields, body: Array(reader.rest()))
        response.isCoded = bits & 8 != 0
        (self.response, flags) = (response, Flags(rawValue: bits & 7))
    }

    /// The content of a message.
    var content: [UInt8] {
        var writer = MessageWriter(capacity: response.body.count + 512)
        writer.byte(flags.rawValue | (response.isCoded ? 8 : 0))
        writer.integer(response.status.code)
        writer.integer(UInt16(response.fields.count))
        for field in response.fields {
            writer.counted(field.name.utf8)
            writer.counted(field.value.utf8)
        }
        writer.rest(response.body.bytes)
        return writer.bytes
    }
}
