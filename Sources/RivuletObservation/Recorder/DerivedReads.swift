/// The paths that were read; the time to look up a change depends only on the length of its path.
struct DerivedReads: Sendable {
    /// The paths of values that were read.
    private var values: Set<String> = []
    /// The paths of collections of which the set and the order of the elements were read.
    private var orders: Set<String> = []
    /// The read paths and all paths that contain them.
    private var outer: Set<String> = []
    /// True if a field with unreported changes was read.
    var hasUnreported = false

    /// All read paths, in no order.
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

    /// Returns true if a change may change the result of the computation.
    func areTouched(by change: StateChange) -> Bool {
        let parent = Self.parent(of: change.path)
        if change.operation != .replace, let parent, orders.contains(parent) { return true }
        // A move does not change the element itself, but it changes the values that contain the element.
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
        // If a path is in the set, all paths that contain it are in the set too.
        while let current = next, outer.insert(current).inserted { next = Self.parent(of: current) }
    }

    /// Returns the path without its last token; nil for the path of the whole state.
    private static func parent(of path: String) -> String? {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) }
    }
}
