import ArgumentParser
import FoundationEssentials
import Rivulet
import RivuletExamples

/// Reads all stored sessions as `serve` would.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List damage, and what is stored and this build could not read, before it is deployed.",
        discussion: """
            Writes nothing, and may run beside the server that uses the folder. Exits with 1 when there is damage, a session that could not be \
            read, a migration step that needs a path which no session has, an item of a store or a value that could not, or a session of an app that this build does not host; with --strict also \
            when anything that is stored has no field in this build, and is ignored for that. Secrets are not opened.
            """
    )

    @Option(help: "The folder that keeps the sessions.")
    var data: String = Environment.text("DATA") ?? "./data"

    @Flag(help: "Exit with 1 also when something stored is ignored.")
    var strict = false

    @Flag(help: "Build damaged indexes anew, in a folder that no server uses.")
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
        for line in outcome.remaining { print("still damaged, restore a backup or delete it: \(line)") }
        if !outcome.remaining.isEmpty { throw ExitCode.failure }
    }
}
