/// A value whose JSON may hold observable states, and so transient fields that are never on disk, and fields in wrappers.
public protocol StateBearing {
    // swift-format-ignore: NoLeadingUnderscores
    /// Offers the states in it to a collector that looks for coercions; `old` is what was in its place, if that is known.
    func _$collectCoercions(since old: Self?, into collector: inout ChangeCollector)
}

extension StateNode {
    // swift-format-ignore: NoLeadingUnderscores
    /// Offers itself; a state that is what it was is hardly the new one.
    public func _$collectCoercions(since old: Self?, into collector: inout ChangeCollector) {
        let isNew = old.map { $0.jsonBytes() != jsonBytes() } ?? (collector.search?.isNewValue ?? false)
        collector.collectCoercions(isNew: isNew) { _ = Self._$collect(from: self, to: self, serial: nil, into: &$0) }
    }
}

extension Array: StateBearing where Element: StateBearing {
    // swift-format-ignore: NoLeadingUnderscores
    /// Offers the elements, each beside what was in its position.
    public func _$collectCoercions(since old: Self?, into collector: inout ChangeCollector) {
        for (index, element) in enumerated() {
            let earlier = old.flatMap { index < $0.count ? $0[index] : nil }
            collector.enter(String(index)) {
                element._$collectCoercions(since: earlier, into: &$0)
            }
        }
    }
}

extension Dictionary: StateBearing where Value: StateBearing {
    // swift-format-ignore: NoLeadingUnderscores
    /// Offers the values in the order of their keys, each beside what was under its key.
    public func _$collectCoercions(since old: Self?, into collector: inout ChangeCollector) {
        // Only such a dictionary is an object in JSON.
        guard let values = self as? [String: Value] else { return }
        let earlier = old as? [String: Value]
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            collector.enter(key) {
                value._$collectCoercions(since: earlier?[key], into: &$0)
            }
        }
    }
}

extension Optional: StateBearing where Wrapped: StateBearing {
    // swift-format-ignore: NoLeadingUnderscores
    /// Offers the value, if there is one.
    public func _$collectCoercions(since old: Self?, into collector: inout ChangeCollector) {
        self?._$collectCoercions(since: old ?? nil, into: &collector)
    }
}
