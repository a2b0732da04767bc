import RivuletBase
public import RivuletJSON

/// The part of a state that a caller may see: the values at key paths, with everything in them.
///
/// A token `*` in a path stands for any one token. Elements of a keyed collection are named by their ids.
/// A mask has no path that another of its paths contains.
public struct PathMask: Sendable, Hashable {
    /// The token that stands for any one token.
    package static let wildcard = "*"

    /// The paths as a tree.
    ///
    /// Equal masks have equal trees.
    let root: MaskNode

    init(root: MaskNode) {
        self.root = root
    }

    /// Creates the mask of these paths; no path makes ``none``, and the empty path makes ``all``.
    ///
    /// A token `*` is a pattern, also if it comes from a caller: build paths of ``Caller/me``, which is no pattern,
    /// and not of a subject.
    public init(_ paths: some Sequence<JSONPointer>) {
        var root = MaskNode()
        for path in paths { root.insert(path.tokens[...]) }
        self.init(root: root.minimized(under: []) ?? MaskNode())
    }

    /// The whole state.
    public static let all = PathMask(root: MaskNode(isWhole: true))

    /// Nothing.
    public static let none = PathMask(root: MaskNode())

    /// True for ``all``.
    public var isAll: Bool { root.isWhole }

    /// True for ``none``.
    public var isNone: Bool { !root.isWhole && root.children.isEmpty }

    /// The paths, ordered by their tokens; none for ``none``, and the empty path for ``all``.
    public var paths: [JSONPointer] {
        var paths: [JSONPointer] = []
        root.collect(into: &paths, from: [])
        return paths
    }

    /// Returns true if everything at the path is granted; a token `*` of the path stands for any one token.
    public func grants(_ path: JSONPointer) -> Bool {
        var level = [root]
        for token in path.tokens {
            if level.contains(where: \.isWhole) { return true }
            level = MaskNode.covering(level, token)
            if level.isEmpty { return false }
        }
        return level.contains(where: \.isWhole)
    }

    /// Returns true if something at, above or below the path is granted.
    ///
    /// A token `*` of the path stands for any one token.
    public func intersects(_ path: JSONPointer) -> Bool {
        guard !isNone else { return false }
        var level = [root]
        for token in path.tokens {
            if level.contains(where: \.isWhole) { return true }
            level = MaskNode.meeting(level, token)
            if level.isEmpty { return false }
        }
        return true
    }

    /// Returns the part that is in either mask.
    public func union(_ other: PathMask) -> PathMask {
        if isAll || other.isNone { return self }
        if other.isAll || isNone { return other }
        return PathMask(paths + other.paths)
    }

    /// Returns the part that is in any of the masks; the work is that of one union.
    static func union(of masks: [PathMask]) -> PathMask {
        let masks = masks.filter { !$0.isNone }
        if masks.contains(where: \.isAll) { return .all }
        guard masks.count > 1 else { return masks.first ?? .none }
        return PathMask(masks.lazy.flatMap(\.paths))
    }

    /// The approximate memory of the mask, in bytes.
    var bytes: Int { root.bytes }

    /// Returns the part that is in both masks.
    public func intersection(_ other: PathMask) -> PathMask {
        if isAll || other.isNone { return other }
        if other.isAll || isNone { return self }
        return PathMask(other.paths.flatMap(parts))
    }

    /// A short text that is the same for equal masks in every process; empty for ``all``.
    package var name: String {
        guard !isAll else { return "" }
        var hash = StableHash()
        for path in paths { hash.add(text: path.description) }
        return hash.maskName
    }

    /// The granted paths within a path; a token `*` of the path stands for any one token.
    func parts(of path: JSONPointer) -> [JSONPointer] {
        var parts: [JSONPointer] = []
        var tokens: [String] = []
        _ = root.meet(path.tokens[...], from: &tokens) { part in
            parts.append(JSONPointer(tokens: part))
            return true
        }
        return parts
    }
}

extension StableHash {
    /// The name of a mask with this hash: 13 characters of `a-z2-7`.
    ///
    /// It distinguishes masks, but is no protection against a chosen collision.
    var maskName: String {
        Base32.encode((0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) })
    }
}
