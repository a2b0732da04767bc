import ArgumentParser
import FoundationEssentials
import Logging
import Rivulet
import RivuletExamples

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs the server with the example apps.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the hosted apps until SIGTERM or SIGINT.",
        discussion: """
            Every option has an environment variable: --port has RIVULET_PORT. An option overrides its variable; --data overrides also \
            RIVULET_MEMORY, and --memory overrides also RIVULET_DATA. A warning lists unknown variables that begin with RIVULET_.

            The secret key signs cookies and seals values. It has no option, only variables: RIVULET_SECRET_KEY is its text, at least 32 \
            bytes; RIVULET_SECRET_KEY_FILE names a file with the text. Only the file's owner may read it. If neither is set, the key is in \
            the file secret.key in the data folder, which is created if it does not exist. To replace the key, give the earlier key in \
            RIVULET_OLDER_SECRET_KEY or RIVULET_OLDER_SECRET_KEY_FILE. Existing cookies and sealed values then stay valid.
            """
    )

    @Option(
        help: "Where to listen: tcp for --host and --port, unix:/run/rivulet/rivulet.sock, or both. (default: tcp)"
    )
    var listen: [String] = []

    @Option(help: "The address to listen on. (default: 127.0.0.1)")
    var host: String?

    // Parsed unconditionally, so that "-1" is an invalid port and not an unknown option.
    @Option(parsing: .unconditional, help: "The port to listen on, 0 to 65535; 0 takes a free port. (default: 8080)")
    var port: String?

    @Option(help: "The folder for sessions, created if it does not exist. Not with --memory. (default: ./data)")
    var data: String?

    @Flag(help: "Refuse to start with a damaged write-ahead log, instead of serving the readable commits.")
    var requireClean = false

    @Flag(help: "Keep nothing on disk.")
    var memory = false

    @Option(parsing: .unconditional, help: "The number of event loops, one thread each. (default: the cores)")
    var workers: Int?

    @Option(
        parsing: .unconditional,
        help: "The most streams of one client's address, or IPv6 network (/64). (default: no limit)"
    )
    var streamsPerAddress: Int?

    @Option(
        parsing: .unconditional,
        help: "The most bytes of log that a session keeps; the oldest versions go first. (default: 268435456)"
    )
    var logBytesPerSession: Int?

    @Option(name: .customLong("public"), help: "The folder of static files. (default: ./Public if it has index.html)")
    var publicFolder: String?

    @Flag(help: "Make all cookies valid for TLS only, even if no trusted proxy sends X-Forwarded-Proto: https.")
    var secureCookies = false

    @OptionGroup(title: "Doors") var doors: DoorOptions

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions
    @OptionGroup(title: "Limits") var rates: LimitOptions
    @OptionGroup(title: "Cluster") var cluster: NodeArguments

    @Option(help: "trace, debug, info, notice, warning, error or critical. (default: info)")
    var logLevel: String?

    @Option(help: "text, or json for one object on each line. (default: text)")
    var logFormat: String?

    func run() throws {
        let level = try level()
        let isJSON = try isLogJSON()
        // Applies to all loggers of the process, because stores and values make their own loggers.
        LoggingSystem.bootstrap { label in
            var handler: any LogHandler =
                isJSON ? JSONLogHandler.standardError(label: label) : StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let logger = Logger(label: "rivulet")
        // The warning follows the line with the address, which a new user should read first. If the start fails, the
        // warning precedes the error.
        var warning = Environment.unknownVariables()
        defer { if let warning { logger.warning("\(warning)") } }
        let folder = try dataFolder()
        let member = try nodeOptions(dataFolder: folder)
        let options = try makeOptions(dataFolder: folder)
        let didListen: (String) -> Void = { url in
            print("rivulet listening on \(url)")
            // A pipe is block-buffered, and a reader of this line must not wait for a full block.
            fflush(nil)
            if let text = warning { logger.warning("\(text)") }
            warning = nil
        }
        if let member, let folder {
            let node = try ClusterProcess(member, folder: folder, logger: logger)
            return try run(node, options, logger, didListen)
        }
        let storage: any StorageEngine & ItemStorage =
            try folder.map { folder in
                let requiresClean = try requireClean || Environment.value("REQUIRE_CLEAN", Environment.flag) ?? false
                return SQLiteStorageEngine(folder: folder, requiresClean: requiresClean)
            } ?? MemoryStorageEngine()
        let server = StateServer(options: options, storage: storage, logger: logger)
        try ExampleApps.host(on: server, storage: storage, keys: options.sealingKeys)
        try server.run(didListen: didListen)
    }

    /// Serves as the node of a cluster; a deposed node begins again as a new process.
    private func run(
        _ node: ClusterProcess,
        _ options: ServerOptions,
        _ logger: Logger,
        _ didListen: (String) -> Void
    ) throws {
        do {
            defer { node.end() }
            try node.begin()
            var options = options
            node.apply(to: &options)
            let server = StateServer(options: options, storage: node.storage, logger: logger)
            try ExampleApps.host(on: server, storage: node.sharedStorage, keys: options.sealingKeys)
            node.take(appsOf: server)
            return try server.run(didListen: didListen)
        } catch is DeposedError {
            guard try node.beginsAgain(at: Int(Date.now.timeIntervalSince1970)) else {
                FileDescriptorOutput.standardError.say("rivulet: \(node.restartsText)\n")
                throw ExitCode(ProcessRestart.giveUp)
            }
        }
        try ProcessRestart.run(RivuletCommand.allArguments)
    }

    /// Returns the node of a cluster; nil for a server that is alone.
    private func nodeOptions(dataFolder: String?) throws -> ClusterOptions? {
        guard let options = try cluster.options() else { return nil }
        guard dataFolder != nil else {
            throw ValidationError(
                "a node of a cluster keeps its copy on disk; leave --memory out, or leave --cluster out"
            )
        }
        guard try !(requireClean || Environment.value("REQUIRE_CLEAN", Environment.flag) ?? false) else {
            throw ValidationError(
                "--require-clean is for a server without a cluster: a node takes what its copy has lost from the cluster's log; leave it out"
            )
        }
        return options
    }

    /// Returns the folder that stores the sessions; nil if they are in memory only.
    ///
    /// An option overrides a variable. Two options, or two variables, that contradict each other are refused, because
    /// one would be ignored.
    private func dataFolder() throws -> String? {
        if memory {
            guard data == nil else {
                throw ValidationError(
                    "--memory keeps nothing on disk, and --data names a folder for the sessions; give one of the two"
                )
            }
            return nil
        }
        if let data {
            try Environment.checkDataFolder(data)
            return data
        }
        let named = Environment.text("DATA")
        guard try Environment.value("MEMORY", Environment.flag) ?? false else { return named ?? "./data" }
        guard named == nil else {
            throw ValidationError(
                "RIVULET_MEMORY keeps nothing on disk, and RIVULET_DATA names a folder for the sessions; unset one of the two"
            )
        }
        return nil
    }

    private func makeOptions(dataFolder: String?) throws -> ServerOptions {
        let workers = try workers ?? Environment.value("WORKERS") { Int($0) } ?? ServerOptions.cores
        let most = ServerOptions.workersMax
        guard (1...most).contains(workers) else { throw ValidationError("--workers is 1 to \(most); found \(workers)") }
        var limits = ServerLimits()
        limits.streamsPerAddressMax = try streamsPerAddress ?? Environment.value("STREAMS_PER_ADDRESS") { Int($0) }
        if let most = limits.streamsPerAddressMax, most < 1 {
            throw ValidationError("--streams-per-address is at least 1; found \(most)")
        }
        var options = ServerOptions(
            listeners: try listeners(),
            host: host ?? Environment.text("HOST") ?? "127.0.0.1",
            port: try listeningPort(),
            workers: workers,
            publicFolder: publicFolder ?? Environment.text("PUBLIC") ?? defaultPublicFolder,
            hasSecureCookies: try secureCookies || Environment.value("SECURE_COOKIES", Environment.flag) ?? false,
            limits: limits
        )
        if let most = try logBytesPerSession ?? Environment.value("LOG_BYTES_PER_SESSION", { Int($0) }) {
            guard most >= 1 else { throw ValidationError("--log-bytes-per-session is at least 1; found \(most)") }
            options.sessionLimits.logBytesMax = most
        }
        try doors.apply(to: &options)
        try credentials.apply(to: &options)
        rates.apply(to: &options)
        // The check precedes the creation of the data folder and its key, so that a refused start leaves nothing
        // behind.
        try options.check()
        let secrets = try SecretKeys(keptIn: dataFolder)
        (options.secretKey, options.olderSecretKey) = (secrets.current, secrets.older)
        return options
    }

    /// Returns the places to listen on.
    ///
    /// An option for a port is refused on a server without one, because it would be ignored.
    private func listeners() throws -> [ServerListener] {
        guard let listeners = try DoorOptions.listeners(listen) else { return [.tcp] }
        guard listeners.contains(.tcp) || host == nil && port == nil else {
            throw ValidationError(
                "--listen has no tcp, so the server has no port for --host and --port; leave them out, or add --listen tcp"
            )
        }
        return listeners
    }

    private func listeningPort() throws -> UInt16 {
        let variable = Environment.text("PORT")
        guard let text = port ?? variable else { return 8080 }
        guard let number = UInt16(text) else {
            let name = port == nil ? "RIVULET_PORT" : "--port"
            throw ValidationError("\(name) is a number from 0 to 65535, where 0 takes a free port; found \"\(text)\"")
        }
        return number
    }

    private func isLogJSON() throws -> Bool {
        switch logFormat ?? Environment.text("LOG_FORMAT") ?? "text" {
        case "text": return false
        case "json": return true
        case let name: throw ValidationError("the log format \"\(name)\" is none of text, json")
        }
    }

    private func level() throws -> Logger.Level {
        guard let name = logLevel ?? Environment.text("LOG_LEVEL") else { return .info }
        guard let level = Logger.Level(rawValue: name.lowercased()) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("the log level \"\(name)\" is none of \(levels)")
        }
        return level
    }

    private var defaultPublicFolder: String? {
        FileManager.default.fileExists(atPath: "Public/index.html") ? "Public" : nil
    }
}
