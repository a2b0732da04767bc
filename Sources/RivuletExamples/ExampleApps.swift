package import Rivulet

/// The example apps.
package enum ExampleApps {
    /// Adds them to a server; what all sessions of an app share is kept in the storage, secrets sealed with the keys.
    package static func host(on server: StateServer, storage: any ItemStorage, keys: SealingKeys?) throws {
        try server.host(CounterApp())
        try server.host(TodosApp())
        try server.host(NotesApp(storage: storage, keys: keys))
    }
}
