// The data folder that the builds of a migration test share.

import Foundation
import Rivulet
import RivuletTesting

/// A temporary data folder, removed when the value is released.
final class BoardFolder: Sendable {
    let path = NSTemporaryDirectory() + "/rivulet-migration-\(UUID().uuidString)"

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("could not remove \(path): \(error)")
        }
    }

    /// Runs a build on the folder.
    nonisolated(nonsending) func run(
        _ app: any AppDefinition,
        _ transport: TestServer.Transport,
        _ body: nonisolated(nonsending) (TestClient) async throws -> Void
    ) async throws {
        try await TestServer(app, storage: { [path] in SQLiteStorageEngine(folder: path) }).run(transport, body)
    }
}
