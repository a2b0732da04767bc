// This file owns the search of a state's type for transient fields that the default state may lack.

extension ObservableState {
    // swift-format-ignore: NoLeadingUnderscores
    /// True if a state may have transient fields in elements of collections, in optionals or in cases of enums.
    ///
    /// A stored document does not have these fields, and the default state has no such element. The check is slow: run
    /// it once per app.
    package static var _$hasTransientElements: Bool {
        var search = TransientElements()
        return search.finds(in: Self.self, isElement: false)
    }
}

private struct TransientElements {
    private struct Visit: Hashable {
        let type: ObjectIdentifier
        let isElement: Bool
    }

    /// The types that were searched; types may be recursive.
    private var visited: Set<Visit> = []

    mutating func finds(in type: Any.Type, isElement: Bool) -> Bool {
        guard visited.insert(Visit(type: ObjectIdentifier(type), isElement: isElement)).inserted else { return false }
        if let state = type as? any ObservableState.Type {
            // A transient field that always exists is in the default state, with all its contents.
            for field in state._$fields where !field.isOmitted && (isElement || !field.isTransient) {
                if field.isTransient || finds(in: field.type, isElement: isElement) { return true }
            }
            return false
        }
        let elements =
            if let cases = type as? any ObservableEnum.Type {
                cases._$cases.flatMap(\.payload).map(\.type)
            } else {
                (type as? any ElementHolder.Type)?.elements ?? []
            }
        for element in elements where finds(in: element, isElement: true) { return true }
        return false
    }
}
