import ArgumentParser
import Rivulet

/// Rewrites the databases of a data folder.
struct Vacuum: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the databases of a data folder anew, without what was deleted; from then on deletions erase.",
        discussion: """
            Once for a folder of an older version; the databases of this one erase by themselves. It needs as much free space as the \
            databases use, and refuses while a server uses the folder. An older layout is brought up to date.
            """
    )

    @Option(help: "The data folder.")
    var data: String = Environment.text("DATA") ?? "./data"

    func run() throws {
        try Environment.checkDataFolder(data)
        let outcomes = try SQLiteVacuum.run(folder: data) { print("not searched for databases: \(data)/\($0)") }
        for outcome in outcomes {
            let erases = outcome.wasSecured ? "its deletions erased before, too" : "its deletions erase from now on"
            print(
                "vacuumed \(outcome.path): \(outcome.byteCountBefore) bytes before, \(outcome.byteCountAfter) now; \(erases)"
            )
        }
    }
}
