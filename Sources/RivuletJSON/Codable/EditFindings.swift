internal import Synchronization

/// The paths that edits of values looked for, from the root of the value that a migration step edits.
///
/// A token `*` stands for each element that an `updateEach` visits.
package struct EditFindings: Hashable, Sendable {
    /// Paths that an edit found.
    package private(set) var found: Set<String> = []
    /// Paths that an edit needs, and that none found.
    package private(set) var missing: Set<String> = []

    package init() {}

    /// Returns what the edits in the body find, on the thread or task that runs it.
    ///
    /// - Throws: what the body throws.
    package static func noting(_ body: () throws -> Void) rethrows -> EditFindings {
        let notebook = EditNotebook()
        try EditNotebook.$current.withValue(notebook, operation: body)
        return notebook.findings
    }

    fileprivate mutating func note(_ path: String, isFound: Bool, isRequired: Bool) {
        if isFound {
            found.insert(path)
            missing.remove(path)
        } else if isRequired, !found.contains(path) {
            missing.insert(path)
        }
    }
}

/// Where the edits of one step are noted.
final class EditNotebook: Sendable {
    private struct Page {
        var findings = EditFindings()
        /// The path of the value that the innermost closure edits.
        var root = ""
    }

    /// The notebook of the step that runs; nil outside of steps.
    @TaskLocal static var current: EditNotebook?

    private let page = Mutex(Page())

    var findings: EditFindings { page.withLock { $0.findings } }

    /// Notes that an edit looked for a path.
    func note(_ path: String, isFound: Bool, isRequired: Bool) {
        page.withLock { $0.findings.note($0.root + path, isFound: isFound, isRequired: isRequired) }
    }

    /// Runs a body whose edits begin at a path.
    func within<Value>(_ path: String, _ body: () throws -> Value) rethrows -> Value {
        let outer = page.withLock { page in
            defer { page.root += path }
            return page.root
        }
        defer { page.withLock { $0.root = outer } }
        return try body()
    }
}
