public import RivuletEngine
public import RivuletJSON
import RivuletObservation

/// The failure of a migration in a test.
public struct MigrationTestError: Error, CustomStringConvertible {
    /// The step with the path that it did not find, or with its error.
    ///
    /// Example: `step 1→2: /name was found in 0 of 1 document; paths begin at /p`.
    public let description: String
}

extension AppDefinition {
    /// Returns the state that this build makes of a document which an earlier build stored.
    ///
    /// The document goes through the steps from its version on, and is then merged into the app's default. This one
    /// document stands for all stored sessions, so it needs each path that a step requires.
    ///
    /// - Parameters:
    ///   - document: The stored half, such as `["p": ["sum": 3]]` for an ``AppState``.
    ///   - version: The schema version in which it was stored.
    /// - Returns: the state, in which transient and omitted fields have their defaults.
    /// - Throws: ``MigrationTestError`` for a missing path and for a failed step, `JSONError` if the document does not
    ///   decode after its migration.
    public func state(migrating document: JSONValue, from version: Int) throws -> State {
        var document = document
        let findings: MigrationFindings
        do throws(MigrationError) {
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
