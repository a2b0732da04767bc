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
        discussion: "Every option has an environment variable: --port is RIVULET_PORT. Options win."
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

    @Option(name: .customLong("public"), help: "The folder of static files. (default: ./Public where it is)")
    var publicFolder: String?

    @Flag(help: "Give out cookies for TLS only, also when no proxy says X-Forwarded-Proto: https.")
    var secureCookies = false

    @Option(help: "trace, debug, info, notice, warning, error or critical. (default: info)")
    var logLevel: String?

    func run() throws {
        let isMemory = try memory || Environment.value("MEMORY", Environment.flag) ?? false
        let storage: any StorageEngine & ItemStorage =
            isMemory ? MemoryStorageEngine() : SQLiteStorageEngine(folder: data)
        let server = try makeServer(on: storage, secretKey: try secretKey(isMemory: isMemory))
        try ExampleApps.host(on: server, storage: storage, keys: nil)
        try server.run { url in
            print("rivulet listening on \(url)")
        }
    }

    private func makeServer(on storage: any StorageEngine, secretKey: SecretKey?) throws -> StateServer {
        var logger = Logger(label: "rivulet") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = try level()
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let workers = try workers ?? Environment.value("WORKERS") { Int($0) } ?? cores
        guard (1...256).contains(workers) else { throw ValidationError("--workers is 1 to 256; found \(workers)") }
        let options = ServerOptions(
            host: host,
            port: try port ?? Environment.value("PORT") { UInt16($0) } ?? 8080,
            workers: workers,
            publicFolder: publicFolder ?? Environment.text("PUBLIC") ?? defaultPublicFolder,
            secretKey: secretKey,
            hasSecureCookies: try secureCookies || Environment.value("SECURE_COOKIES", Environment.flag) ?? false
        )
        return StateServer(options: options, storage: storage, logger: logger)
    }

    /// The secret of the environment, or of the data folder; nil, one for this run, where nothing is kept.
    private func secretKey(isMemory: Bool) throws -> SecretKey? {
        switch (Environment.text("SECRET_KEY"), Environment.text("SECRET_KEY_FILE")) {
        case (_?, _?): throw ValidationError("RIVULET_SECRET_KEY and RIVULET_SECRET_KEY_FILE are both set; unset one")
        case (let text?, nil): try SecretKey(text)
        case (nil, let path?): try SecretKey(file: path)
        case (nil, nil): isMemory ? nil : try SecretKey(keptIn: data)
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
