import RivuletServer

/// One connection to a server under test.
protocol TestConnection: AnyObject {
    func send(_ bytes: [UInt8])
    /// Returns the next bytes; nil if the server has closed.
    nonisolated(nonsending) func receive() async -> [UInt8]?
    func close()
}

/// A connection without a socket.
final class InProcessConnection: TestConnection {
    private let connection: MemoryConnection
    private var bytes: AsyncStream<[UInt8]>.Iterator

    init(to server: RunningServer) {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        bytes = stream.makeAsyncIterator()
        connection = server.connect { bytes in
            if let bytes { continuation.yield(bytes) } else { continuation.finish() }
        }
    }

    func send(_ bytes: [UInt8]) { connection.send(bytes) }

    nonisolated(nonsending) func receive() async -> [UInt8]? { await bytes.next(isolation: #isolation) }

    func close() { connection.close() }
}
