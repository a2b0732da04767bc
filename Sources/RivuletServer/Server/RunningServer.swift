import RivuletEngine
import RivuletEventLoop
import RivuletSessions

/// A started server with one event loop on a thread of its own.
package final class RunningServer: Sendable {
    /// The port on which the server listens; nil if it accepts connections in memory only.
    package var port: UInt16? { listeners?.port }
    private let listeners: OpenListeners?
    private let loop: LoopBound<ServerLoop>
    private let transport: LoopBound<MemoryTransport>?
    private let thread: LoopThread
    private let storage: any StorageEngine
    private let ending: ClusterEnding

    fileprivate init(
        listeners: OpenListeners?,
        loop: LoopBound<ServerLoop>,
        transport: LoopBound<MemoryTransport>?,
        thread: LoopThread,
        storage: any StorageEngine,
        ending: ClusterEnding
    ) {
        self.ending = ending
        self.listeners = listeners
        self.loop = loop
        self.transport = transport
        self.thread = thread
        self.storage = storage
    }

    /// Opens a connection in memory.
    ///
    /// The sink gets the bytes that the server writes, and nil at the end.
    package func connect(_ sink: @escaping @Sendable ([UInt8]?) -> Void) -> MemoryConnection {
        let connection = MemoryConnection(transport: transport)
        transport?.post { connection.id = $0.open(sink) }
        if transport == nil { sink(nil) }
        return connection
    }

    /// Drains and stops the server; call it once.
    ///
    /// It returns when the thread has ended and storage is closed.
    package func stop() {
        listeners?.close()
        loop.post { $0.drainAndStop() }
        thread.join()
        storage.lifecycle.close()
    }

    /// Gives the partition of a cluster up first, and then stops the server; call it instead of `stop`.
    package func leaveAndStop() {
        let loop = loop
        loop.post { $0.leaveCluster { loop.post { $0.drainAndStop() } } }
        thread.join()
        listeners?.close()
        storage.lifecycle.close()
    }

    /// Waits until a server in a cluster has ended by itself, and closes its storage.
    ///
    /// - Throws: The reason.
    package func join() throws {
        thread.join()
        listeners?.close()
        storage.lifecycle.close()
        try ending.check()
    }
}

/// The client's end of a connection in memory.
package final class MemoryConnection: @unchecked Sendable {
    private let transport: LoopBound<MemoryTransport>?
    // SAFETY: written and read on the loop's thread only.
    fileprivate var id: ConnectionID?

    fileprivate init(transport: LoopBound<MemoryTransport>?) {
        self.transport = transport
    }

    /// Sends bytes after the bytes sent before.
    package func send(_ bytes: [UInt8]) {
        transport?.post { transport in if let id = self.id { transport.receive(id, bytes) } }
    }

    /// Closes from the client's side; further bytes are lost.
    package func close() {
        transport?.post { transport in if let id = self.id { transport.close(id, .peerEnded) } }
    }
}

extension StateServer {
    /// Starts the server for a test, with one loop and without watching the process's signals.
    ///
    /// - Parameters:
    ///   - isListening: True if the server listens on its options' port; false if it accepts connections in memory.
    ///   - clock: The clock of effects.
    /// - Returns: The server. The caller must stop it.
    /// - Throws: The errors that `run()` throws.
    package func start(isListening: Bool, clock: any Clock<Duration>) throws -> RunningServer {
        let context = try makeContext(workers: 1, clock: clock)
        try setQuotas()
        try storage.lifecycle.start()
        do {
            try openAtStart(context)
            let loop = try EventLoop(index: 0)
            let server = ServerLoop(index: 0, loop: loop, context: context)
            let transport = isListening ? nil : MemoryTransport(loop: loop, delegate: server)
            let loopBound = LoopBound(server, to: loop)
            let loopBoundTransport = transport.map { LoopBound($0, to: loop) }
            loopBound.post { server in
                server.core.attach([loopBound], transport: loopBoundTransport?.onExecutor)
                server.begin()
            }
            let ending = ClusterEnding()
            attachCluster(of: context, [loopBound], ending)
            let listeners = isListening ? try OpenListeners(context.options, on: [loop]) : nil
            let thread: LoopThread
            do {
                thread = try LoopThread(running: loop)
            } catch {
                listeners?.close()
                loop.stopListening()
                throw error
            }
            return RunningServer(
                listeners: listeners,
                loop: loopBound,
                transport: loopBoundTransport,
                thread: thread,
                storage: storage,
                ending: ending
            )
        } catch {
            storage.lifecycle.close()
            throw error
        }
    }
}
