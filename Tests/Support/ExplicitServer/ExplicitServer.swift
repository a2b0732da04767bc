// Part of Rivulet. See README.md for the architecture.
// Owns a server for tests from outside: an app whose sessions have to be created.

import CounterFixture
import Rivulet

/// Serves the fixture's app under the policy `.explicit`, in memory, on a free port; options of `rivulet serve` are passed over.
@main
enum ExplicitServer {
    static func main() throws {
        let server = StateServer(options: ServerOptions(port: 0), storage: MemoryStorageEngine())
        try server.host(TallyApp(sessionPolicy: .explicit))
        try server.run { url in
            print("rivulet listening on \(url)")
        }
    }
}
