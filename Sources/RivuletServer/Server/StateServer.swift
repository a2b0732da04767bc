public import CoreMetrics
public import Logging
import RivuletBase
public import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
public import RivuletMetrics
public import RivuletSessions
import RivuletStores
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Hosts apps over HTTP.
///
/// `run()` is the whole life of a server: it listens, serves until SIGTERM or SIGINT, drains and returns.
public final class StateServer: Sendable {
    private let options: ServerOptions
    let storage: any StorageEngine
    let logger: Logger
    private let metrics: any MetricsFactory
    private let apps: Mutex<[any HostedApp]>
    private let schemas = Mutex<[String: UInt32]>([:])

    /// Makes a server; nothing is opened before `run()`.
    ///
    /// - Parameters:
    ///   - options: The address to listen on, the permissions and the limits.
    ///   - storage: Stores accepted events. The server starts and closes it.
    ///   - logger: Takes messages for operators. When the server accepts connections, `run()` logs its address and its
    ///     apps.
    ///   - metrics: Takes measurements. If it is a `PrometheusRegistry`, `GET /metrics` shows it, with the metrics that
    ///     the program itself adds to it. Any other backend shows the measurements in its own way.
    public init(
        options: ServerOptions = ServerOptions(),
        storage: any StorageEngine,
        logger: Logger = Logger(label: "rivulet"),
        metrics: any MetricsFactory = PrometheusRegistry()
    ) {
        self.options = options
        self.storage = storage
        self.logger = logger
        self.metrics = metrics
        apps = Mutex([])
    }

    /// Adds an app, before `run()`.
    ///
    /// - Throws: `ServerError` when the name cannot be in a URL or is taken, or when a binding does not fit the state.
    public func host(_ definition: some AppDefinition) throws(ServerError) {
        let app = AppHost(definition)
        guard Route.isAppName(app.name) else {
            throw ServerError("the app name \"\(app.name)\" cannot be in a URL; use [a-z][a-z0-9-]{0,63}")
        }
        try Self.checkMigrations(of: definition)
        if let fault = app.fault { throw ServerError("app \"\(app.name)\": \(fault)") }
        try apps.withLock { apps throws(ServerError) in
            if apps.contains(where: { $0.name == app.name }) {
                throw ServerError("two apps are named \"\(app.name)\"; rename one")
            }
            try Self.checkLocations(of: apps + [app])
            apps.append(app)
        }
        schemas.withLock { $0[app.name] = UInt32(definition.schemaVersion) }
    }

    /// The schema versions of the hosted apps.
    package var schemaVersions: [String: UInt32] { schemas.withLock { $0 } }

    private static func checkLocations(of apps: [any HostedApp]) throws(ServerError) {
        let locations = apps.flatMap { app in
            app.shared.locations.map { location in
                var location = location
                location.owner += " of app \"\(app.name)\""
                return location
            }
        }
        guard let clash = SharedLocation.clash(in: locations) else { return }
        throw ServerError(
            "\(clash.first.owner) and \(clash.second.owner) are stored in the same collection, "
                + "\"\(clash.first.collection.name)\", so that neither would see the other's writes; give one of them another collection"
        )
    }

    private static func checkMigrations(of definition: some AppDefinition) throws(ServerError) {
        let (name, schema) = (definition.name, definition.schemaVersion)
        guard schema >= 1, UInt32(exactly: schema) != nil else {
            throw ServerError("the schemaVersion \(schema) of app \"\(name)\" is not 1 to \(UInt32.max)")
        }
        let versions = definition.migrations.map(\.version)
        if let wrong = versions.first(where: { $0 < 1 || $0 >= schema }) {
            throw ServerError(
                "app \"\(name)\" has a migration from schema version \(wrong), but its schemaVersion is \(schema); raise the schemaVersion"
            )
        }
        if let twice = versions.first(where: { version in versions.count { $0 == version } > 1 }) {
            throw ServerError("app \"\(name)\" has two migrations from schema version \(twice); join them into one")
        }
    }

    /// All hosted apps, in the order in which they were added.
    var hostedApps: [any HostedApp] { apps.withLock { $0 } }

    /// The hosted app with this name.
    func app(named name: String) -> (any HostedApp)? {
        apps.withLock { apps in apps.first { $0.name.hasSameBytes(as: name) } }
    }

    /// Listens and serves on the calling thread and on `workers - 1` further threads, until a signal stops the server.
    ///
    /// - Parameter didListen: Called once, when the server accepts connections, with its address as a URL. A Unix
    ///   socket is `unix:` and its path. Several addresses are joined by `and`. Output that the closure prints is
    ///   flushed.
    /// - Throws: a `ServerError`, `StorageError` or an error of the loop, when the server cannot start. Nothing is left
    ///   open then. In a cluster, a `DeposedError` when the process has to begin again.
    public func run(didListen: (_ url: String) -> Void) throws {
        ProcessSettings.returnLargeBlocks()
        ProcessSettings.reserveDescriptors(options.limits.connectionsMax)
        let context = try makeContext(workers: options.workers, clock: ContinuousClock())
        logErasingTrouble()
        try setQuotas()
        try storage.lifecycle.start()
        defer { storage.lifecycle.close() }
        logRecovery()
        try openAtStart(context)
        var limits = LoopLimits()
        limits.connectionsMax = options.limits.connectionsMax / options.workers + 1
        let loops = try (0..<options.workers).map { [limits] in
            try EventLoop(index: $0, limits: limits, account: context.heldBytes)
        }
        let servers = loops.map { loop in
            LoopBound(ServerLoop(index: loop.index, loop: loop, context: context), to: loop)
        }
        for server in servers {
            server.post { loop in
                loop.core.attach(servers)
                loop.begin()
            }
        }
        let listeners = try OpenListeners(context.options, on: loops)
        defer { listeners.close() }
        let ending = ClusterEnding()
        attachCluster(of: context, servers, ending) { listeners.close() }
        var threads: [LoopThread] = []
        do {
            try onSignals(of: loops[0], servers, listeners, context)
            for loop in loops.dropFirst() { threads.append(try LoopThread(running: loop)) }
            try context.authentication?.start()
        } catch {
            loops[0].stopListening()
            for loop in loops.dropFirst() { loop.post { loop.stop() } }
            for thread in threads { thread.join() }
            throw error
        }
        let addresses = listeners.addresses(options)
        didListen(addresses.joined(separator: " and "))
        // Output to a pipe is buffered in blocks. A reader that waits for this line must not wait for a full block.
        fflush(nil)
        logStart(at: addresses, context)
        let watch = PublicFolderWatch(of: context.files, logger: logger)
        loops[0].run()
        for thread in threads { thread.join() }
        watch?.stop()
        context.authentication?.stop()
        try ending.check()
    }

    private func logStart(at addresses: [String], _ context: ServerContext) {
        let isKept = storage.capabilities.survivesPowerLoss
        let location =
            (storage as? any LocatedStorage)?.location ?? (isKept ? "\(type(of: storage))" : "none, in memory only")
        logger.info(
            "server started",
            metadata: [
                "address": "\(addresses.joined(separator: ", "))",
                "apps": "\(context.apps.keys.sorted().joined(separator: ", "))", "data": "\(location)",
                "workers": "\(context.options.workers)",
            ]
        )
        if options.allowedOrigins.contains("*") { logger.warning("\(AllowedOrigins.notice)") }
        if options.access == .open, ServerAccess.isExposed(options.tcpHost) { logger.warning("\(ServerAccess.notice)") }
        context.secret.logNotice(to: logger, sessionsAreKept: isKept)
        if isKept, options.olderSecretKey != nil { logger.info("\(SecretKey.olderNotice)") }
        for notice in context.erasing?.startNotices ?? [] { logger.warning("\(notice)") }
    }

    /// Passes the quotas of the apps to the storage engine, before it starts.
    func setQuotas() throws {
        var quotas: [String: StorageQuota] = [:]
        for app in hostedApps where app.quota != .none {
            if let limit = app.quota.invalidLimit {
                throw ServerError(
                    "\(limit) in the quota of app \"\(app.name)\" is below 1; set it to 1 at least, or to nil for no limit"
                )
            }
            quotas[app.name] = app.quota
        }
        if let engine = storage as? any QuotaStorageEngine { return try engine.setQuotas(quotas) }
        guard quotas.isEmpty else {
            let names = quotas.keys.sorted().joined(separator: ", ")
            throw ServerError(
                "the storage engine keeps no quotas, and these apps have one: \(names); take another engine, or leave the quota out"
            )
        }
    }

    /// Makes the storage engine log each deleted session that it could not erase.
    private func logErasingTrouble() {
        guard let engine = storage as? any ErasingStorageEngine else { return }
        engine.onErasingTrouble { [logger] trouble in logger.error("\(trouble)") }
    }

    /// Logs immediately what the storage engine found at its start, because the next start would not find it again.
    private func logRecovery() {
        guard let recovery = (storage as? any RecoveringStorageEngine)?.recovery else { return }
        if let line = recovery.information { logger.info("\(line)") }
        if let line = recovery.warning { logger.warning("\(line)") }
    }

    /// Makes the context that all loops share; `workers` is the number of loops.
    func makeContext(workers: Int, clock: any Clock<Duration>) throws(ServerError) -> ServerContext {
        var options = options
        options.workers = workers
        try options.check()
        try checkMemory()
        try checkBodies()
        let files =
            if let folder = options.publicFolder {
                try StaticFiles(folder: folder, fileBytesMax: options.limits.staticFileBytesMax, logger: logger)
            } else {
                StaticFiles()
            }
        return try ServerContext(
            options: options,
            apps: apps.withLock { $0 },
            files: files,
            storage: storage,
            logger: logger,
            metrics: metrics,
            clock: clock
        )
    }

    /// Refuses a memory limit under which an app could take no event that makes a state larger.
    private func checkMemory() throws(ServerError) {
        let bytesMax = options.sessionLimits.residentBytesMax
        for app in apps.withLock({ $0 }) where bytesMax < app.residentBytesLeast {
            throw ServerError(
                "residentBytesMax is \(bytesMax), with which app \"\(app.name)\" could take no event that makes a state larger; set it to "
                    + "\(app.residentBytesLeast) at least"
            )
        }
    }

    /// Refuses a limit on bodies under which the largest body could never be read.
    private func checkBodies() throws(ServerError) {
        let limits = options.limits
        let bytesMin = max(8 * BodyBudget.smallBytesMax, (limits.bodyBytesMax * 4 + 2) / 3)
        guard limits.heldBodyBytesMax < bytesMin else { return }
        throw ServerError(
            "heldBodyBytesMax is \(limits.heldBodyBytesMax), with which a body of bodyBytesMax, \(limits.bodyBytesMax), could not be read; "
                + "set it to \(bytesMin) at least"
        )
    }

    /// Handles the signals that stop the server or reload its credentials and limits.
    ///
    /// Signals that would end the process without a drain are ignored.
    private func onSignals(
        of loop: EventLoop,
        _ servers: [LoopBound<ServerLoop>],
        _ listeners: OpenListeners,
        _ context: ServerContext
    ) throws {
        let logger = logger
        for (signal, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
            try loop.onSignal(signal) {
                logger.info("stopping", metadata: ["signal": "\(name)"])
                servers[0].post { server in
                    server.leaveCluster {
                        listeners.close()
                        for server in servers { server.post { $0.drainAndStop() } }
                    }
                }
            }
        }
        try loop.onSignal(SIGHUP) {
            guard context.authentication != nil || context.limits?.path != nil else {
                return logger.notice("SIGHUP: there are no credentials and no limits to read again")
            }
            if let authentication = context.authentication { authentication.reload() } else { context.limits?.reload() }
        }
        for signal in [SIGUSR1, SIGUSR2, SIGALRM] { ProcessSignals.ignoreUnlessHandled(signal) }
    }
}
