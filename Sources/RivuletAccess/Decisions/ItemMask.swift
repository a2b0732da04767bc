import RivuletBase

/// The items of one store that a caller may read or write.
package struct ItemMask: Sendable, Hashable {
    private let globs: [Glob]
    /// True for ``all``.
    package let isAll: Bool

    private init(_ globs: [Glob], isAll: Bool) {
        self.globs = isAll ? [] : globs
        self.isAll = isAll
    }

    /// The items with an id that matches one of the patterns; none without a pattern.
    package init(_ globs: [Glob]) {
        self.init(globs, isAll: globs.contains(where: \.isAny))
    }

    /// All items.
    package static let all = ItemMask([], isAll: true)

    /// No item.
    package static let none = ItemMask([], isAll: false)

    /// True for ``none``.
    package var isNone: Bool { !isAll && globs.isEmpty }

    /// Returns true if the mask has the item.
    package func contains(_ id: String) -> Bool { isAll || globs.contains { $0.matches(id) } }

    /// A short text that is the same for the same patterns in every process; empty for ``all``.
    package var name: String {
        guard !isAll else { return "" }
        var hash = StableHash()
        // Grants have no order, and may name a pattern twice.
        for glob in Set(globs.map(\.stableHash)).sorted() { hash.add(text: "\(glob)") }
        return hash.maskName
    }

    /// The approximate memory of the mask, in bytes.
    var bytes: Int { globs.reduce(0) { $0 + $1.bytes } }

    func union(_ other: ItemMask) -> ItemMask { ItemMask(globs + other.globs, isAll: isAll || other.isAll) }
}
