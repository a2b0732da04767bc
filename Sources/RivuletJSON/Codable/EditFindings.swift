internal import Synchronization

/// The paths that edits looked for, from the root of the value that a migration step edits.
///
/// A token `*` stands for each element that an `updateEach` visits.
package struct EditFindings: Hashable, Sendable {
    /// Paths that an edit found.
    package private(set) var found: Set<String> = []
    /// Paths that an edit needs and no edit found.
    package private(set) var missing: Set<String> = []

    package init() {}

    /// Returns the findings of the edits in the body, on the thread or task that runs it.
    ///
    /// - Throws: The error of the body.
    package static func noting(_ body: () throws -> Void) rethrows -> EditFindings {
        let notebook = EditRecorder()
        try EditRecorder.$current.withValue(notebook, operation: body)
        return notebook.findings
    }

    fileprivate mutating func record(_ path: String, isFound: Bool, isRequired: Bool) {
        if isFound {
            found.insert(path)
            missing.remove(path)
        } else if isRequired, !found.contains(path) {
            missing.insert(path)
        }
    }
}

/// Records the edits of one step.
final class EditRecorder: Sendable {
    private struct Page {
        var findings = EditFindings()
        /// The path of the value that the innermost closure edits.
        var root = ""
    }

    /// The recorder of the step that runs now; nil outside of steps.
    @TaskLocal static var current: EditRecorder?

    private let page = Mutex(Page())

    var findings: EditFindings { page.withLock { $0.findings } }

    /// Records that an edit looked for a path.
    func record(_ path: String, isFound: Bool, isRequired: Bool) {
        page.withLock { $0.findings.record($0.root + path, isFound: isFound, isRequired: isRequired) }
    }

    /// Runs a body with edits of the value at `path`; the edits' own paths begin at this value.
    func within<Value>(_ path: String, _ body: () throws -> Value) rethrows -> Value {
        let outer = page.withLock { page in
            defer { page.root += path }
            return page.root
        }
        defer { page.withLock { $0.root = outer } }
        return try body()
    }
}
