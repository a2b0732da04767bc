public import RivuletJSON

/// The error of a test's request or stream: no answer came, or the answer was incomplete or malformed.
public struct TestClientError: Error, Hashable, CustomStringConvertible {
    /// The cause of the failure.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Sends requests to a ``TestServer``, each on a connection of its own; it keeps no cookies.
public final class TestClient {
    private let connect: () throws -> any TestConnection
    /// Streams that were opened, and are closed with the server.
    private var streams: [TestStream] = []

    init(_ connect: @escaping () throws -> any TestConnection) {
        self.connect = connect
    }

    /// Requests a target, such as `/v1/apps/counter/sessions/s/state`.
    ///
    /// - Throws: ``TestClientError`` if no answer comes.
    public nonisolated(nonsending) func get(_ target: String, fields: [String: String] = [:]) async throws -> TestAnswer
    {
        try await send("GET", target, fields: fields)
    }

    /// Posts a JSON value, such as an event to `/v1/apps/counter/sessions/s/events`.
    ///
    /// - Throws: ``TestClientError`` if no answer comes.
    public nonisolated(nonsending) func post(
        _ target: String,
        json: JSONValue,
        fields: [String: String] = [:]
    ) async throws -> TestAnswer {
        var fields = fields
        fields["Content-Type"] = fields["Content-Type"] ?? "application/json"
        return try await send("POST", target, fields: fields, body: Array("\(json)".utf8))
    }

    /// Sends any request.
    ///
    /// - Throws: ``TestClientError`` if no answer comes.
    public nonisolated(nonsending) func send(
        _ method: String,
        _ target: String,
        fields: [String: String] = [:],
        body: [UInt8] = []
    ) async throws -> TestAnswer {
        let connection = try connect()
        defer { connection.close() }
        connection.send(Self.request(method, target, fields.merging(["Connection": "close"]) { $1 }, body))
        let (head, rest) = try await Self.readHead(of: connection)
        var body = AnswerBody(of: head)
        var bytes = try body.content(of: rest)
        while let more = await connection.receive() { bytes += try body.content(of: more) }
        guard !body.isCut || method == "HEAD" else { throw TestClientError("the answer was cut off") }
        if let length = head[field: "content-length"].flatMap({ Int($0) }), method != "HEAD", bytes.count != length {
            throw TestClientError("the connection ended after \(bytes.count) of \(length) bytes")
        }
        return TestAnswer(head, body: bytes)
    }

    /// Opens an event stream, such as `/v1/apps/counter/sessions/s/changes`.
    ///
    /// - Throws: ``TestClientError`` if no answer comes, or if its head is not the head of an event stream.
    public nonisolated(nonsending) func stream(
        _ target: String,
        fields: [String: String] = [:]
    ) async throws -> TestStream {
        let connection = try connect()
        let fields = ["Accept": "text/event-stream"].merging(fields) { $1 }
        connection.send(Self.request("GET", target, fields, []))
        let (head, bytes) = try await Self.readHead(of: connection)
        guard head.status == 200, head[field: "content-type"]?.hasPrefix("text/event-stream") == true else {
            connection.close()
            throw TestClientError("\(target) is no stream: \(head.status) \(String(decoding: bytes, as: UTF8.self))")
        }
        let stream = try TestStream(head: head, rest: bytes, connection: connection)
        streams.append(stream)
        return stream
    }

    /// Closes all open streams.
    func close() {
        for stream in streams { stream.close() }
    }

    private static func request(
        _ method: String,
        _ target: String,
        _ fields: [String: String],
        _ body: [UInt8]
    ) -> [UInt8] {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"]
        if !body.isEmpty || method == "POST" { lines.append("Content-Length: \(body.count)") }
        lines += fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    /// Reads the head, up to the empty line.
    ///
    /// - Returns: the head, and the bytes that follow it.
    private nonisolated(nonsending) static func readHead(
        of connection: any TestConnection
    ) async throws -> (TestAnswer, [UInt8]) {
        let end = Array("\r\n\r\n".utf8)
        var bytes: [UInt8] = []
        while true {
            if let range = bytes.firstRange(of: end) {
                guard let head = TestAnswer(head: bytes[..<range.lowerBound]) else {
                    throw TestClientError("the answer has no status")
                }
                return (head, Array(bytes[range.upperBound...]))
            }
            guard let more = await connection.receive() else {
                throw TestClientError("the server closed without an answer")
            }
            bytes += more
        }
    }
}
