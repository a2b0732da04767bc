package import RivuletJSON

/// A path that a migration step edits.
package struct MigrationPath: Hashable, Sendable, Comparable {
    /// The schema version of the documents that the step migrates.
    package let version: Int
    /// The JSON Pointer; a token `*` stands for each element of an `updateEach`.
    package let path: String

    /// Creates a path of a step.
    package init(version: Int, path: String) {
        self.version = version
        self.path = path
    }

    package static func < (one: MigrationPath, other: MigrationPath) -> Bool {
        (one.version, one.path) < (other.version, other.path)
    }

    /// Returns the error's sentence, such as `step 1→2: /name was found in 0 of 12 sessions; paths begin at /p`.
    ///
    /// - Parameters:
    ///   - documents: The documents that were searched, such as `12 sessions`.
    ///   - beginnings: The names at the root of a document in which the path was missing.
    /// - Returns: The sentence, without a full stop.
    package func fault(in documents: String, beginnings: [String]) -> String {
        "step \(version)→\(version + 1): \(path) was found in 0 of \(documents)" + hint(beginnings)
    }

    /// The most names at a document's root that the sentence lists.
    private static let beginningsMax = 8

    /// Returns a hint with the names at the root, which are fields of the app.
    ///
    /// Deeper names could be keys that clients chose.
    private func hint(_ beginnings: [String]) -> String {
        let first = path.split(separator: "/", maxSplits: 1).first.map { "/\($0)" }
        let locations = beginnings.map { JSONPointer(tokens: [$0]).description }
        guard !locations.isEmpty, let first, !locations.contains(first) else { return "" }
        let others = locations.count > Self.beginningsMax ? " and others" : ""
        return "; paths begin at " + locations.prefix(Self.beginningsMax).joined(separator: ", ") + others
    }
}

/// The paths that the steps of a migration looked for in one document.
package struct MigrationFindings: Hashable, Sendable {
    /// Paths that the document had.
    package private(set) var found: Set<MigrationPath> = []
    /// Paths that a step needs and the document lacked, each with the names at the document's root before that step.
    package private(set) var missing: [MigrationPath: [String]] = [:]

    package init() {}

    /// Adds the findings of one step in a document with these names at its root.
    mutating func add(_ findings: EditFindings, of version: Int, beginnings: [String]) {
        for path in findings.found { found.insert(MigrationPath(version: version, path: path)) }
        for path in findings.missing { missing[MigrationPath(version: version, path: path)] = beginnings }
    }
}

/// The error of a step of a migration.
package struct MigrationError: Error {
    /// The schema version of the documents that the step migrates.
    package let version: Int
    /// The error of the step's closure.
    package let reason: any Error
}

extension [StateMigration] {
    /// Takes a document through all steps from its schema version on, in order.
    ///
    /// - Returns: The paths that the steps looked for.
    package func migrate(
        _ document: inout JSONValue,
        from version: Int
    ) throws(MigrationError) -> MigrationFindings {
        var findings = MigrationFindings()
        for step in sorted(by: { $0.version < $1.version }) where step.version >= version {
            let beginnings = document.members?.map(\.name) ?? []
            do {
                let found = try EditFindings.noting { try step.migrate(&document) }
                findings.add(found, of: step.version, beginnings: beginnings)
            } catch {
                throw MigrationError(version: step.version, reason: error)
            }
        }
        return findings
    }
}
