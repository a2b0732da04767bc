package import RivuletObservation

/// A change without its value: what a reader gets for it is the current one.
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

    /// A path whose value is to be given anew.
    package init(path: String) {
        operation = .replace
        self.path = PathText(path)
    }
}

extension Sequence<MissedChange> {
    /// Each change once, at its first place.
    var unique: [MissedChange] {
        var seen: Set<MissedChange> = []
        return filter { seen.insert($0).inserted }
    }
}
