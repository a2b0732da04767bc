import RivuletBase

/// Names of events or of views: all of them, or a list.
///
/// Names are compared by their bytes.
public struct NameSet: Sendable, Hashable, ExpressibleByArrayLiteral {
    private var names: Set<ByteText>
    /// True for ``all``.
    public private(set) var isAll: Bool

    private init(_ names: Set<ByteText>, isAll: Bool) {
        self.names = isAll ? [] : names
        self.isAll = isAll
    }

    /// Creates a set of these names.
    ///
    /// No name stands for others, also not `*`.
    public init(_ names: some Sequence<String>) { self.init(Set(names.map(ByteText.init)), isAll: false) }

    /// Creates a set of these names.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// Reads the names of a grant, in which `*` stands for all.
    package init(granted names: [String]) {
        self.init(Set(names.map(ByteText.init)), isAll: names.contains { $0.hasSameBytes(as: Grant.everyName) })
    }

    /// All names.
    public static let all = NameSet([], isAll: true)

    /// No name.
    public static let none = NameSet([], isAll: false)

    /// True for ``none``.
    public var isEmpty: Bool { !isAll && names.isEmpty }

    /// The names in the order of their bytes; nil for ``all``.
    public var list: [String]? {
        isAll ? nil : names.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// A short text that is the same for equal sets in every process; empty for ``all``.
    package var maskName: String {
        guard let list else { return "" }
        var hash = StableHash()
        for name in list { hash.add(text: name) }
        return hash.maskName
    }

    /// The approximate memory of the set, in bytes.
    var bytes: Int { names.reduce(0) { $0 + 64 + ByteText.heapBytes(of: $1.text) } }

    /// Returns true if the set has the name.
    public func contains(_ name: String) -> Bool { isAll || names.contains(ByteText(name)) }

    /// Returns the names that are in either set.
    public func union(_ other: NameSet) -> NameSet {
        NameSet(names.union(other.names), isAll: isAll || other.isAll)
    }

    /// Returns the names that are in both sets.
    public func intersection(_ other: NameSet) -> NameSet {
        if isAll { return other }
        return other.isAll ? self : NameSet(names.intersection(other.names), isAll: false)
    }
}
