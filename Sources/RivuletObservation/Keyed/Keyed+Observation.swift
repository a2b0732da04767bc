// This file owns how Swift's Observation sees a keyed collection: its order as one thing, and each element at a place of its own.

extension Keyed {
    // swift-format-ignore: NoLeadingUnderscores
    /// Where this collection is observed.
    @inlinable public var _$place: ObservedPlace? { observed }

    // swift-format-ignore: NoLeadingUnderscores
    /// Takes a place at which it is observed.
    @inlinable
    public mutating func _$observe(at place: ObservedPlace) {
        observed = place
    }

    /// The element at a valid position, which learns where it is; its presence and the order are noted as read.
    @usableFromInline
    func observedElement(at position: Int) -> Element {
        observed?.accessOrder()
        // By the list of ids, for asking the element would be noted as a read of it.
        observed?.child(.element(id(at: position).keyPathToken)).accessPresence()
        return observe(element(at: position))
    }

    /// The element with an id, which learns where it is; whether it is there is noted as read.
    @usableFromInline
    func observedElement(id: Element.ID) -> Element? {
        observed?.child(.element(id.keyPathToken)).accessPresence()
        return position(of: id).map { observe(element(at: $0)) }
    }

    /// The element, which has learnt its place.
    @usableFromInline
    func observe(_ element: consuming Element) -> Element {
        if let observed { element._$observe(in: observed) }
        return element
    }

    /// Tells the observers of the order, and of elements that came or went.
    @usableFromInline
    func tellOrder(_ ids: [Element.ID]) {
        guard let observed else { return }
        for id in ids { observed.tellAndForget(.element(id.keyPathToken)) }
        observed.mutate(ObservedPlace.wholeField) {}
    }

    /// Tells the observers of an element if another one took its place; its own fields have told theirs.
    @usableFromInline
    func tellReplacement(of id: Element.ID, by element: Element?) {
        guard let place = observed?.existingChild(.element(id.keyPathToken)) else { return }
        guard element?._$isObserved(at: place) != true else { return }
        place.mutate(ObservedPlace.wholeField) {}
    }
}

extension StateNode where Self: Identifiable, ID: KeyedID {
    // swift-format-ignore: NoLeadingUnderscores
    /// Takes its place as an element of the collection at a place.
    @usableFromInline
    mutating func _$observe(in place: ObservedPlace) {
        _$observe(at: place.child(.element(id.keyPathToken)))
    }
}
