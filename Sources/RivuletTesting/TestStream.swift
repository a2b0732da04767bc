/// An event stream of a server under test; it ends when the server ends it, or by ``close()``.
///
/// The server ends a stream with a `bye` event, followed by the last chunk of the body. A stream without this end was
/// cut off.
public final class TestStream {
    /// The head of the server's answer.
    public let head: TestAnswer
    private let connection: any TestConnection
    private var body: AnswerBody
    private var parser = StreamParser()

    init(
        head: TestAnswer,
        rest: some Collection<UInt8>,
        connection: any TestConnection
    ) throws(TestClientError) {
        self.head = head
        self.connection = connection
        body = AnswerBody(of: head)
        parser.add(try body.content(of: rest))
    }

    deinit { connection.close() }

    /// Returns the next event; comments are skipped.
    ///
    /// It waits without limit: bound the test by the trait `.timeLimit`.
    ///
    /// - Throws: ``TestClientError`` if the server has ended the stream, if the stream was cut off, or if its bytes are
    ///   malformed: `description` says which.
    public nonisolated(nonsending) func next() async throws -> StreamedEvent {
        while true {
            if let event = parser.next() { return event }
            guard let bytes = await connection.receive() else {
                throw TestClientError(body.isCut ? "the stream was cut off" : "the stream has ended")
            }
            parser.add(try body.content(of: bytes))
        }
    }

    /// Closes the connection.
    public func close() { connection.close() }
}
