/// A condition on the item under an identifier.
///
/// Source: RFC 9110 §13.1.1, §13.1.2.
package struct ItemCondition: Hashable, Sendable {
    /// A list of entity tags, or any tag.
    package enum Tags: Hashable, Sendable {
        case any
        case some([String])

        func includes(_ tag: String?) -> Bool {
            switch (self, tag) {
            case (_, nil): false
            case (.any, _): true
            case (.some(let tags), let tag?): tags.contains(tag)
            }
        }
    }

    /// The item must have one of these tags; nil if there is no such condition.
    package var match: Tags?
    /// The item must have none of these tags; nil if there is no such condition.
    package var noneMatch: Tags?

    package init(match: Tags? = nil, noneMatch: Tags? = nil) {
        self.match = match
        self.noneMatch = noneMatch
    }

    /// True if there is no condition.
    var isEmpty: Bool { match == nil && noneMatch == nil }

    /// True if an item with this tag meets the condition.
    ///
    /// A nil tag means that there is no item.
    func holds(for tag: String?) -> Bool {
        if let match, !match.includes(tag) { return false }
        if let noneMatch, noneMatch.includes(tag) { return false }
        return true
    }
}
