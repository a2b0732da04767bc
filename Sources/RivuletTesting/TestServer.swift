public import RivuletEngine
public import RivuletServer
public import RivuletSessions

/// Hosts apps for a test, in memory by default.
///
/// The same test runs without sockets and over live ones: in both cases the server's own parser and routes handle the
/// requests.
public struct TestServer: Sendable {
    /// The way in which requests reach the server.
    public enum Transport: Sendable, Hashable, CaseIterable {
        /// In memory, without a socket.
        case inProcess
        /// Through a free port of 127.0.0.1.
        case live
    }

    private let apps: [any AppDefinition]
    private let options: ServerOptions
    private let makeStorage: @Sendable () throws -> any StorageEngine
    private let clock: any Clock<Duration>

    /// Describes a server.
    ///
    /// - Parameters:
    ///   - apps: The apps to host.
    ///   - options: The server's options; host and port are replaced, and only one worker runs.
    ///   - clock: The clock of effects, which a ``ManualClock`` lets a test move.
    ///   - storage: Makes the storage of each run.
    public init(
        _ apps: any AppDefinition...,
        options: ServerOptions = ServerOptions(),
        clock: any Clock<Duration> = ContinuousClock(),
        storage: @escaping @Sendable () throws -> any StorageEngine = { MemoryStorageEngine() }
    ) {
        self.apps = apps
        self.clock = clock
        var options = options
        options.host = "127.0.0.1"
        options.port = 0
        self.options = options
        makeStorage = storage
    }

    /// Starts the server, runs the body with a client, and stops it; open streams are closed.
    ///
    /// - Throws: the error of the start or of the body.
    @discardableResult
    public nonisolated(nonsending) func run<Result>(
        _ transport: Transport = .inProcess,
        _ body: nonisolated(nonsending) (TestClient) async throws -> Result
    ) async throws -> Result {
        let server = StateServer(options: options, storage: try makeStorage())
        for app in apps { try server.host(app) }
        let running = try server.start(isListening: transport == .live, clock: clock)
        let client = TestClient {
            if let port = running.port { try LiveConnection(port: port) } else { InProcessConnection(to: running) }
        }
        defer {
            client.close()
            running.stop()
        }
        return try await body(client)
    }
}
