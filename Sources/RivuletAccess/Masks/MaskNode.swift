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

    mutating func insert(_ path: ArraySlice<String>) {
        guard let token = path.first else {
            isWhole = true
            return
        }
        children[ByteText(token), default: MaskNode()].insert(path.dropFirst())
    }

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

    /// Adds the granted paths within a path; `rest` is the part of that path that is left.
    func meet(_ rest: ArraySlice<String>, from tokens: [String], into paths: inout [JSONPointer]) {
        if isWhole { return paths.append(JSONPointer(tokens: tokens + rest)) }
        guard let token = rest.first else { return collect(into: &paths, from: tokens) }
        if ByteText(token) == Self.any {
            for (own, node) in sortedChildren { node.meet(rest.dropFirst(), from: tokens + [own], into: &paths) }
        } else {
            for node in Self.covering([self], token) {
                node.meet(rest.dropFirst(), from: tokens + [token], into: &paths)
            }
        }
    }
}
