// Owns a server for end-to-end tests: an app with explicitly created sessions, and limits that a test can reach.

import CounterFixture
import Logging
import Rivulet

/// Serves the fixture's app under the policy `.explicit` on a free port, in memory or in the folder `--data`.
///
/// `--idle-milliseconds N` is the time that a session without requests stays in memory, and `--state-bytes N` the most
/// bytes of its state. `--body-bytes`, `--held-body-bytes`, `--body-wait-milliseconds` and
/// `--body-progress-milliseconds` are the limits of bodies. `--app-sessions`, `--app-bytes`, `--owner-sessions` and
/// `--owner-bytes` are the app's quota. `--api-keys` names the file of the callers' keys. Other options of
/// `rivulet serve` are ignored. The log reports evictions and passivations.
@main
enum ExplicitServer {
    static func main() throws {
        var limits = SessionLimits()
        if let milliseconds = number(after: "--idle-milliseconds") { limits.idleTimeMax = .milliseconds(milliseconds) }
        if let bytes = number(after: "--state-bytes") { limits.stateBytesMax = bytes }
        var serverLimits = ServerLimits()
        if let bytes = number(after: "--body-bytes") { serverLimits.bodyBytesMax = bytes }
        if let bytes = number(after: "--held-body-bytes") { serverLimits.heldBodyBytesMax = bytes }
        if let milliseconds = number(after: "--body-wait-milliseconds") {
            serverLimits.bodyWaitTimeMax = .milliseconds(milliseconds)
        }
        if let milliseconds = number(after: "--body-progress-milliseconds") {
            serverLimits.bodyProgressTimeMax = .milliseconds(milliseconds)
        }
        var logger = Logger(label: "explicit") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .debug
        var options = ServerOptions(port: 0, workers: 1, limits: serverLimits, sessionLimits: limits)
        options.credentials = text(after: "--api-keys").map { CredentialFiles(apiKeys: $0) }
        var storage: any StorageEngine = MemoryStorageEngine()
        if let folder = text(after: "--data") {
            options.secretKey = try SecretKey(keptIn: folder)
            storage = SQLiteStorageEngine(folder: folder)
        }
        let server = StateServer(options: options, storage: storage, logger: logger)
        let quota = StorageQuota(
            sessionsMax: number(after: "--app-sessions"),
            bytesMax: number(after: "--app-bytes"),
            ownerSessionsMax: number(after: "--owner-sessions"),
            ownerBytesMax: number(after: "--owner-bytes")
        )
        try server.host(TallyApp(sessionPolicy: .explicit, quota: quota))
        try server.run { url in
            print("rivulet listening on \(url)")
        }
    }

    private static func number(after option: String) -> Int? { text(after: option).flatMap { Int($0) } }

    private static func text(after option: String) -> String? {
        let arguments = CommandLine.arguments
        guard let place = arguments.firstIndex(of: option), arguments.indices.contains(place + 1) else { return nil }
        return arguments[place + 1]
    }
}
