package import RivuletObservation

/// A change without its value: a reader that missed the change gets the current value.
package struct MissedChange: Hashable, Sendable {
    let operation: StateChange.Operation
    let path: PathText

    package init(_ change: StateChange) {
        operation = change.operation
        path = PathText(change.path)
    }

    init(_ operation: StateChange.Operation, _ path: PathText) {
        self.operation = operation
        self.path = path
    }

    /// Makes a replacement at a path; the reader gets the whole current value there.
    package init(path: String) {
        operation = .replace
        self.path = PathText(path)
    }
}

extension Sequence<MissedChange> {
    /// Each change once, at its first position.
    var unique: [MissedChange] {
        var seen: Set<MissedChange> = []
        return filter { seen.insert($0).inserted }
    }
}
