/// A condition on what is under an identifier.
///
/// Source: RFC 9110 §13.1.1, §13.1.2.
package struct ItemCondition: Hashable, Sendable {
    /// Tags or anything.
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

    /// What it has to be; nil: it may be anything.
    package var match: Tags?
    /// What it must not be; nil: it may be anything.
    package var noneMatch: Tags?

    package init(match: Tags? = nil, noneMatch: Tags? = nil) {
        self.match = match
        self.noneMatch = noneMatch
    }

    /// Whether nothing is asked.
    var isEmpty: Bool { match == nil && noneMatch == nil }

    /// Whether an item with this tag will do; nil: there is none.
    func holds(for tag: String?) -> Bool {
        if let match, !match.includes(tag) { return false }
        if let noneMatch, noneMatch.includes(tag) { return false }
        return true
    }
}
