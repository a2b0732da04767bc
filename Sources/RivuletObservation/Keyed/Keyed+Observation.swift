// This file owns the observation of a keyed collection: its order as a whole, and each element at a node of its own.

extension Keyed {
    // swift-format-ignore: NoLeadingUnderscores
    /// The node at which this collection is observed.
    @inlinable public var _$node: Generated.ObservedNode? { observed }

    // swift-format-ignore: NoLeadingUnderscores
    /// Takes the node at which this collection is observed.
    @inlinable
    public mutating func _$observe(at node: Generated.ObservedNode) {
        observed = node
    }

    /// Returns the element at a valid position with its observed node, and records reads of the order and of the
    /// element's presence.
    @usableFromInline
    func observedElement(at position: Int) -> Element {
        observed?.accessOrder()
        // The id comes from the list of keys, because a read of the element's own `id` would be recorded.
        observed?.child(.element(id(at: position).keyPathToken)).accessPresence()
        return observe(element(at: position))
    }

    /// Returns the element with an id and its observed node, and records a read of the element's presence.
    @usableFromInline
    func observedElement(id: Element.ID) -> Element? {
        observed?.child(.element(id.keyPathToken)).accessPresence()
        return position(of: id).map { observe(element(at: $0)) }
    }

    /// Returns the element with its observed node.
    @usableFromInline
    func observe(_ element: consuming Element) -> Element {
        if let observed { element._$observe(in: observed) }
        return element
    }

    /// Notifies the observers of the order, and of added or removed elements.
    @usableFromInline
    func tellOrder(_ ids: [Element.ID]) {
        guard let observed else { return }
        for id in ids { observed.tellAndForget(.element(id.keyPathToken)) }
        observed.mutate(Generated.ObservedNode.wholeField) {}
    }

    /// Notifies the observers of an element if another element replaced it.
    ///
    /// An edit of the element itself has already notified the observers of the edited fields.
    @usableFromInline
    func tellReplacement(of id: Element.ID, by element: Element?) {
        guard let node = observed?.existingChild(.element(id.keyPathToken)) else { return }
        guard element?._$isObserved(at: node) != true else { return }
        node.mutate(Generated.ObservedNode.wholeField) {}
    }
}

extension StateNode where Self: Identifiable, ID: KeyedID {
    // swift-format-ignore: NoLeadingUnderscores
    /// Takes the element's own node, below the node at which its collection is observed.
    @usableFromInline
    mutating func _$observe(in node: Generated.ObservedNode) {
        _$observe(at: node.child(.element(id.keyPathToken)))
    }
}
