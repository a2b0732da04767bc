import ArgumentParser
import Rivulet

/// Rewrites the databases of a data folder.
struct Vacuum: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Rewrite the databases of a data folder without deleted data; from then on deletions erase data.",
        discussion: """
            Run it once for a folder of an older version; in databases of this version deletions erase their data. It needs as much free \
            space as the databases use, and refuses to run while a server uses the folder. An older layout is updated.
            """
    )

    @Option(help: "The data folder.")
    var data: String = Environment.text("DATA") ?? "./data"

    func run() throws {
        try Environment.checkDataFolder(data)
        let outcomes = try SQLiteVacuum.run(folder: data) { print("not searched for databases: \(data)/\($0)") }
        for outcome in outcomes {
            let erases = outcome.wasSecured ? "deletions erase data, as before" : "deletions erase data from now on"
            print(
                "vacuumed \(outcome.path): \(outcome.byteCountBefore) bytes before, \(outcome.byteCountAfter) now; \(erases)"
            )
        }
    }
}
