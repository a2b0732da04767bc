// Part of Rivulet. See README.md for the architecture.
// Owns `rivulet serve`: options, environment, wiring.

import ArgumentParser
import FoundationEssentials
import Logging
import Rivulet
import RivuletExamples

/// Runs the server with the example apps.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the hosted apps until SIGTERM or SIGINT.",
        discussion: """
            Every option has an environment variable: --port is RIVULET_PORT. Options win.

            The secret that cookies are signed and values are sealed under has variables only: RIVULET_SECRET_KEY is its text, at least 32 \
            bytes, RIVULET_SECRET_KEY_FILE a file with it that only its owner may read; without both it is secret.key of the data folder, \
            made where it is not there. To replace it, give the one before in RIVULET_OLDER_SECRET_KEY or RIVULET_OLDER_SECRET_KEY_FILE: \
            what was made under it is still good.
            """
    )

    @Option(help: "The address to listen on.")
    var host: String = Environment.text("HOST") ?? "127.0.0.1"

    @Option(help: "The port to listen on; 0 takes a free one. (default: 8080)")
    var port: UInt16?

    @Option(help: "The folder that keeps sessions; made when it is not there.")
    var data: String = Environment.text("DATA") ?? "./data"

    @Flag(help: "Keep nothing on disk.")
    var memory = false

    @Option(help: "Event loops, one thread each. (default: the cores)")
    var workers: Int?

    @Option(help: "The most streams of one source address; for servers without a proxy in front. (default: no limit)")
    var streamsPerAddress: Int?

    @Option(name: .customLong("public"), help: "The folder of static files. (default: ./Public where it is)")
    var publicFolder: String?

    @Flag(help: "Give out cookies for TLS only, also when no proxy says X-Forwarded-Proto: https.")
    var secureCookies = false

    @Option(help: "trace, debug, info, notice, warning, error or critical. (default: info)")
    var logLevel: String?

    func run() throws {
        let level = try level()
        // For all loggers of the process: stores and values make their own.
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let isMemory = try memory || Environment.value("MEMORY", Environment.flag) ?? false
        let options = try makeOptions(isMemory: isMemory)
        let storage: any StorageEngine & ItemStorage =
            isMemory ? MemoryStorageEngine() : SQLiteStorageEngine(folder: data)
        let server = StateServer(options: options, storage: storage, logger: Logger(label: "rivulet"))
        try ExampleApps.host(on: server, storage: storage, keys: options.sealingKeys)
        try server.run { url in
            print("rivulet listening on \(url)")
        }
    }

    private func makeOptions(isMemory: Bool) throws -> ServerOptions {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let workers = try workers ?? Environment.value("WORKERS") { Int($0) } ?? cores
        guard (1...256).contains(workers) else { throw ValidationError("--workers is 1 to 256; found \(workers)") }
        let port = try port ?? Environment.value("PORT") { UInt16($0) } ?? 8080
        var limits = ServerLimits()
        limits.streamsPerAddressMax = try streamsPerAddress ?? Environment.value("STREAMS_PER_ADDRESS") { Int($0) }
        if let most = limits.streamsPerAddressMax, most < 1 {
            throw ValidationError("--streams-per-address is at least 1; found \(most)")
        }
        let secrets = try SecretKeys(keptIn: isMemory ? nil : data)
        return ServerOptions(
            host: host,
            port: port,
            workers: workers,
            publicFolder: publicFolder ?? Environment.text("PUBLIC") ?? defaultPublicFolder,
            secretKey: secrets.current,
            olderSecretKey: secrets.older,
            hasSecureCookies: try secureCookies || Environment.value("SECURE_COOKIES", Environment.flag) ?? false,
            limits: limits
        )
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
