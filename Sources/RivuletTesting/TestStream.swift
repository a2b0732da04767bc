// Part of Rivulet. See README.md for the architecture.
// Owns a stream that a test reads event by event.

/// An event stream of a server under test; it ends when the server ends it, or by ``close()``.
public final class TestStream {
    /// The head of the server's answer.
    public let head: TestAnswer
    private let connection: any TestConnection
    private var parser = StreamParser()

    init(head: TestAnswer, rest: some Collection<UInt8>, connection: any TestConnection) {
        self.head = head
        self.connection = connection
        parser.add(rest)
    }

    deinit { connection.close() }

    /// The next event; comments are passed over.
    ///
    /// It waits without limit: bound the test by the trait `.timeLimit`.
    ///
    /// - Throws: ``TestClientError`` when the stream has ended.
    public nonisolated(nonsending) func next() async throws -> StreamedEvent {
        while true {
            if let event = parser.next() { return event }
            guard let bytes = await connection.receive() else { throw TestClientError("the stream has ended") }
            parser.add(bytes)
        }
    }

    /// Closes the connection.
    public func close() { connection.close() }
}
