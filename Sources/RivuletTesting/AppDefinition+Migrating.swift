public import RivuletEngine
public import RivuletJSON
import RivuletObservation

/// Why a document could not be migrated in a test.
public struct MigrationTestError: Error, CustomStringConvertible {
    /// The step, and what it did not find or how it failed: `step 1→2: /name was found in 0 of 1 document; paths begin at /p`.
    public let description: String
}

extension AppDefinition {
    /// The state that this build makes of a document which an earlier build stored.
    ///
    /// The document goes through the steps from its version on, over the app's default. This one document stands for all stored sessions: it needs
    /// each path that a step says is required.
    ///
    /// - Parameters:
    ///   - document: The stored half, as `["p": ["sum": 3]]` for an ``AppState``.
    ///   - version: The schema version in which it was stored.
    /// - Returns: the state, without what is in memory only.
    /// - Throws: ``MigrationTestError`` for a path that is missing and for a step that fails, `JSONError` when the document does not decode after
    ///   its migration.
    public func state(migrating document: JSONValue, from version: Int) throws -> State {
        var document = document
        let findings: MigrationFindings
        do throws(MigrationFailure) {
            findings = try migrations.migrate(&document, from: version)
        } catch {
            throw MigrationTestError(description: "step \(error.version)→\(error.version + 1) failed: \(error.reason)")
        }
        if let (path, beginnings) = findings.missing.min(by: { $0.key < $1.key }) {
            throw MigrationTestError(description: path.fault(in: "1 document", beginnings: beginnings))
        }
        var state = defaultState
        var reader = JSONReader(document.jsonBytes())
        try state._$merge(json: &reader)
        try reader.finish()
        return state
    }
}
