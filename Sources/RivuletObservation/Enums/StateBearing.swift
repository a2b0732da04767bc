extension Generated {
    /// A value that may have observable states in its JSON.
    ///
    /// Such a value may have fields in wrappers, and transient fields, which are never on disk.
    public protocol StateBearing {
        // swift-format-ignore: NoLeadingUnderscores
        /// Passes the states in this value to a collector that looks for coercions; `old` is the earlier value, if it
        /// is known.
        func _$collectCoercions(since old: Self?, into collector: inout Generated.ChangeCollector)
    }
}

extension StateNode {
    // swift-format-ignore: NoLeadingUnderscores
    /// Passes this state to the collector; a state that differs from the earlier one is probably new.
    public func _$collectCoercions(since old: Self?, into collector: inout Generated.ChangeCollector) {
        let isNew = old.map { $0.jsonBytes() != jsonBytes() } ?? (collector.search?.isNewValue ?? false)
        collector.collectCoercions(isNew: isNew) { _ = Self._$collect(from: self, to: self, serial: nil, into: &$0) }
    }
}

extension Array: Generated.StateBearing where Element: Generated.StateBearing {
    // swift-format-ignore: NoLeadingUnderscores
    /// Passes the elements to the collector, each with the earlier element at its position.
    public func _$collectCoercions(since old: Self?, into collector: inout Generated.ChangeCollector) {
        for (index, element) in enumerated() {
            let earlier = old.flatMap { index < $0.count ? $0[index] : nil }
            collector.enter(String(index)) {
                element._$collectCoercions(since: earlier, into: &$0)
            }
        }
    }
}

extension Dictionary: Generated.StateBearing where Value: Generated.StateBearing {
    // swift-format-ignore: NoLeadingUnderscores
    /// Passes the values to the collector in the order of their keys, each with the earlier value under its key.
    public func _$collectCoercions(since old: Self?, into collector: inout Generated.ChangeCollector) {
        // Only a dictionary with string keys is an object in JSON.
        guard let values = self as? [String: Value] else { return }
        let earlier = old as? [String: Value]
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            collector.enter(key) {
                value._$collectCoercions(since: earlier?[key], into: &$0)
            }
        }
    }
}

extension Optional: Generated.StateBearing where Wrapped: Generated.StateBearing {
    // swift-format-ignore: NoLeadingUnderscores
    /// Passes the value to the collector, if there is one.
    public func _$collectCoercions(since old: Self?, into collector: inout Generated.ChangeCollector) {
        self?._$collectCoercions(since: old ?? nil, into: &collector)
    }
}
