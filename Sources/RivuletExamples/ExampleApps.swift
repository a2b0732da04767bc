package import Rivulet

/// The example apps.
package enum ExampleApps {
    /// Hosts the example apps on a server.
    ///
    /// The storage holds the data that all sessions of an app share. Its secrets are sealed with the keys.
    package static func host(on server: StateServer, storage: any ItemStorage, keys: SealingKeys?) throws {
        try server.host(CounterApp())
        try server.host(TodosApp())
        try server.host(NotesApp(storage: storage, keys: keys))
    }
}
