/// Places that were read, in a form in which a change is looked up in the time of its path's length.
struct DerivedReads: Sendable {
    /// Values that were read.
    private var values: Set<String> = []
    /// Collections of which it was read what elements they have, and in which order.
    private var orders: Set<String> = []
    /// Everything that contains one of these, and they themselves.
    private var outer: Set<String> = []
    /// Whether a field was read whose changes nobody reports.
    var hasUnreported = false

    /// All that was read, in no order.
    var keyPaths: Set<String> { values.union(orders) }

    /// Adds a value at a path.
    mutating func add(value path: String) {
        values.insert(path)
        addOuter(path)
    }

    /// Adds the order of the collection at a path.
    mutating func add(order path: String) {
        orders.insert(path)
        addOuter(path)
    }

    /// Whether a change may give a computation another result.
    func areTouched(by change: StateChange) -> Bool {
        let parent = Self.parent(of: change.path)
        if change.operation != .replace, let parent, orders.contains(parent) { return true }
        // An element that moves stays what it is; what contains it does not.
        let isMove = change.operation == .move
        if !isMove, outer.contains(change.path) { return true }
        var path = isMove ? parent : change.path
        while let current = path {
            if values.contains(current) { return true }
            path = Self.parent(of: current)
        }
        return false
    }

    private mutating func addOuter(_ path: String) {
        var next: String? = path
        // What is known contains nothing that is not known.
        while let current = next, outer.insert(current).inserted { next = Self.parent(of: current) }
    }

    /// The path without its last token; nil for the whole state's.
    private static func parent(of path: String) -> String? {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) }
    }
}
