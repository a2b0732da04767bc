// Part of Rivulet. See README.md for the architecture.
// Owns which apps the binary hosts.

import Rivulet

/// The example apps.
enum HostedApps {
    /// Adds them to a server.
    static func host(on server: StateServer) throws {
        try server.host(CounterApp())
        try server.host(TodosApp())
    }
}
