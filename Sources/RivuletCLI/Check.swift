import ArgumentParser
import FoundationEssentials
import Rivulet
import RivuletExamples

/// Reads all stored sessions as `serve` would, or repairs damaged indexes.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List damage, and stored data that this build cannot read, before the build is deployed.",
        discussion: """
            Without --repair it writes nothing and may run beside the server. Exits with 1 if there is damage, or if this build cannot read a \
            session, an item of a store or a value. Exits with 1 also if a migration step needs a path that no session has, or if this build \
            does not host the app of a session. With --strict, exits with 1 also if a session has stored data that this build ignores, \
            because the state has no field for it. Secrets are not opened.
            """
    )

    @Option(help: "The folder that keeps the sessions.")
    var data: String = Environment.text("DATA") ?? "./data"

    @Flag(help: "Exit with 1 also if a session has stored data that this build ignores.")
    var strict = false

    @Flag(help: "Rebuild damaged indexes, in a folder that no server uses.")
    var repair = false

    func run() throws {
        guard !repair else { return try repairFolder() }
        try run { server, storage in try ExampleApps.host(on: server, storage: storage, keys: nil) }
    }

    /// Checks the folder with the apps that the closure hosts.
    func run(hosting host: (StateServer, MemoryStorageEngine) throws -> Void) throws {
        try Environment.checkDataFolder(data)
        let storage = try SQLiteStorageInspection(folder: data)
        let nothing = MemoryStorageEngine()
        let server = StateServer(storage: nothing)
        try host(server, nothing)
        let damages = try SQLiteCheck.run(folder: data)
        let report: StoredSessionsReport
        do {
            report = try server.check(storage) { session, reason in
                print("\(session): \(reason)")
            } onUnreadableItem: { location, reason in
                print("\(location): \(reason)")
            }
        } catch {
            // The damage explains more than the error that it caused.
            for line in damages { print("damage: \(line)") }
            throw error
        }
        for line in report.lines { print(line) }
        for line in damages { print("damage: \(line)") }
        if !damages.isEmpty || !report.isClean || (strict && !report.ignored.isEmpty) { throw ExitCode.failure }
    }

    private func repairFolder() throws {
        try Environment.checkDataFolder(data)
        let now = Int64(Date.now.timeIntervalSince1970 * 1_000)
        let outcome = try SQLiteRepair.run(folder: data, time: now)
        for line in outcome.lines { print(line) }
        for line in outcome.remaining {
            print("still damaged; delete the damaged session or item through the server, or restore a backup: \(line)")
        }
        if !outcome.remaining.isEmpty { throw ExitCode.failure }
    }
}
