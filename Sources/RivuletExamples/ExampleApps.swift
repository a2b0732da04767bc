// Part of Rivulet. See README.md for the architecture.
// Owns which apps the binary hosts.

package import Rivulet

/// The example apps.
package enum ExampleApps {
    /// Adds them to a server.
    package static func host(on server: StateServer) throws {
        try server.host(CounterApp())
        try server.host(TodosApp())
    }
}
