import RivuletEngine
import RivuletEventLoop
import RivuletSessions

/// A started server with one event loop on a thread of its own.
package final class RunningServer: Sendable {
    /// The port that it listens on; nil when it takes connections in memory only.
    package let port: UInt16?
    private let loop: Confined<ServerLoop>
    private let wire: Confined<MemoryWire>?
    private let thread: LoopThread
    private let storage: any StorageEngine

    fileprivate init(
        port: UInt16?,
        loop: Confined<ServerLoop>,
        wire: Confined<MemoryWire>?,
        thread: LoopThread,
        storage: any StorageEngine
    ) {
        self.port = port
        self.loop = loop
        self.wire = wire
        self.thread = thread
        self.storage = storage
    }

    /// Opens a connection in memory; what the server writes goes to the sink, and nil at the end.
    package func connect(_ sink: @escaping @Sendable ([UInt8]?) -> Void) -> MemoryConnection {
        let connection = MemoryConnection(wire: wire)
        wire?.post { connection.id = $0.open(sink) }
        if wire == nil { sink(nil) }
        return connection
    }

    /// Drains and stops, and returns when the thread has ended and storage is closed; once.
    package func stop() {
        loop.post { $0.drainAndStop() }
        thread.join()
        storage.lifecycle.close()
    }
}

/// The client's end of a connection in memory.
package final class MemoryConnection: @unchecked Sendable {
    private let wire: Confined<MemoryWire>?
    // SAFETY: written and read on the loop's thread only.
    fileprivate var id: ConnectionID?

    fileprivate init(wire: Confined<MemoryWire>?) {
        self.wire = wire
    }

    /// Sends bytes behind those sent before.
    package func send(_ bytes: [UInt8]) {
        wire?.post { wire in if let id = self.id { wire.receive(id, bytes) } }
    }

    /// Closes from the client's side; further bytes are lost.
    package func close() {
        wire?.post { wire in if let id = self.id { wire.close(id, .peerEnded) } }
    }
}

extension StateServer {
    /// Starts the server for a test: with one loop, and without watching the process's signals.
    ///
    /// - Parameters:
    ///   - isListening: Whether it takes connections on its options' port, rather than in memory.
    ///   - clock: The clock of effects.
    /// - Returns: The server, which is to be stopped.
    /// - Throws: As `run()`.
    package func start(isListening: Bool, clock: any Clock<Duration>) throws -> RunningServer {
        let context = try makeContext(workers: 1, clock: clock)
        try storage.lifecycle.start()
        do {
            try openShared(Array(context.apps.values))
            let loop = try EventLoop(index: 0)
            let server = ServerLoop(index: 0, loop: loop, context: context)
            let wire = isListening ? nil : MemoryWire(loop: loop, delegate: server)
            let confined = Confined(server, to: loop)
            let confinedWire = wire.map { Confined($0, to: loop) }
            confined.post { server in
                server.core.attach([confined], wire: confinedWire?.onExecutor)
                server.begin()
            }
            let port = isListening ? try listen([loop]) : nil
            let thread: LoopThread
            do {
                thread = try LoopThread(running: loop)
            } catch {
                loop.stopListening()
                throw error
            }
            return RunningServer(port: port, loop: confined, wire: confinedWire, thread: thread, storage: storage)
        } catch {
            storage.lifecycle.close()
            throw error
        }
    }
}
