import RivuletBase
import RivuletJSON

/// A node of a mask's tree of paths.
struct MaskNode: Sendable, Hashable {
    /// True if everything at this path is granted.
    ///
    /// Such a node of a minimal tree has no children.
    var isWhole = false
    /// The next tokens.
    ///
    /// ``PathMask/wildcard`` stands for any token, and never for itself alone.
    var children: [ByteText: MaskNode] = [:]

    private static let any = ByteText(PathMask.wildcard)

    /// Adds a path; returns false if the tree has this path already.
    @discardableResult
    mutating func insert(_ path: ArraySlice<String>) -> Bool {
        guard let token = path.first else {
            defer { isWhole = true }
            return !isWhole
        }
        return children[ByteText(token), default: MaskNode()].insert(path.dropFirst())
    }

    /// The approximate memory of the tree, in bytes.
    var bytes: Int {
        guard !children.isEmpty else { return 0 }
        return children.reduce(Self.tableBytes) { sum, child in
            sum + Self.childBytes + ByteText.heapBytes(of: child.key.text) + child.value.bytes
        }
    }

    /// The approximate memory of a table of children without its children, and of a child in it.
    private static let (tableBytes, childBytes) = (96, 64)

    /// Returns the tree without the paths that others contain; nil if no path is left.
    ///
    /// The other nodes are those that match this node's path by a wildcard.
    func minimized(under others: [MaskNode]) -> MaskNode? {
        if others.contains(where: \.isWhole) { return nil }
        if isWhole { return MaskNode(isWhole: true) }
        var node = MaskNode()
        for (token, child) in children {
            let siblings = token == Self.any ? [] : [children[Self.any]].compactMap(\.self)
            node.children[token] = child.minimized(under: Self.covering(others, token.text) + siblings)
        }
        return node.children.isEmpty ? nil : node
    }

    /// The nodes below a level that contain everything the token stands for.
    static func covering(_ level: [MaskNode], _ token: String) -> [MaskNode] {
        let token = ByteText(token)
        return level.flatMap { node in
            (token == any ? [node.children[any]] : [node.children[token], node.children[any]]).compactMap(\.self)
        }
    }

    /// The nodes below a level that have something in common with the token.
    static func meeting(_ level: [MaskNode], _ token: String) -> [MaskNode] {
        guard ByteText(token) == any else { return covering(level, token) }
        return level.flatMap(\.children.values)
    }

    /// The next tokens, in the order of their bytes.
    private var sortedChildren: [(token: String, node: MaskNode)] {
        children.map { (token: $0.key.text, node: $0.value) }
            .sorted { $0.token.utf8.lexicographicallyPrecedes($1.token.utf8) }
    }

    /// Adds the granted paths at and below this node.
    func collect(into paths: inout [JSONPointer], from tokens: [String]) {
        if isWhole { paths.append(JSONPointer(tokens: tokens)) }
        for (token, node) in sortedChildren { node.collect(into: &paths, from: tokens + [token]) }
    }

    /// Visits the granted paths within a path, in any order, until the visitor returns false.
    ///
    /// `rest` is the part of the path that is left, and `tokens` is the way to this node.
    ///
    /// - Returns: False if the visitor has returned false.
    func meet(
        _ rest: ArraySlice<String>,
        from tokens: inout [String],
        visit: (_ path: [String]) -> Bool
    ) -> Bool {
        if isWhole { return visit(tokens + rest) }
        guard let token = rest.first else {
            return children.allSatisfy { $1.step($0.text, rest, from: &tokens, visit: visit) }
        }
        guard ByteText(token) == Self.any else {
            return Self.covering([self], token).allSatisfy {
                $0.step(token, rest.dropFirst(), from: &tokens, visit: visit)
            }
        }
        return children.allSatisfy { $1.step($0.text, rest.dropFirst(), from: &tokens, visit: visit) }
    }

    private func step(
        _ token: String,
        _ rest: ArraySlice<String>,
        from tokens: inout [String],
        visit: (_ path: [String]) -> Bool
    ) -> Bool {
        tokens.append(token)
        defer { tokens.removeLast() }
        return meet(rest, from: &tokens, visit: visit)
    }
}
