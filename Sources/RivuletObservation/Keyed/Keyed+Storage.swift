public import OrderedCollections

/// Where the element is that is being edited.
@usableFromInline
enum KeyedAccess {
    /// In the base, at a position.
    case base(Int)
    /// Among the overlay's edits, at an index in their list.
    case edit(Int)
    /// In the overlay's tail, at an offset in it.
    case tail(Int)
}

extension Keyed {
    /// Begins an in-place edit of the element at a valid position, which gets a new stamp; `end` must follow.
    @inlinable
    mutating func begin(at position: Int) -> KeyedAccess {
        let place = place
        let observed = observed
        if ownsBase() {
            var slots = base.list.slots.mutableSpan
            place.enter(&slots[position], observed)
            return .base(position)
        }
        guard position < kept else {
            let offset = position - kept
            var slots = overlay.tail.slots.mutableSpan
            place.enter(&slots[offset], observed)
            return .tail(offset)
        }
        let (index, isThere) = overlay.edits.index(of: position)
        if !isThere { overlay.edits.insert(base.list.slots.span[position], of: position, at: index) }
        var edits = overlay.edits.list.mutableSpan
        place.enter(&edits[index].slot, observed)
        return .edit(index)
    }

    /// Ends an edit; an element that is nil now is removed.
    @inlinable
    mutating func end(_ access: KeyedAccess) {
        let position: Int
        let id: Element.ID
        let newID: Element.ID?
        switch access {
        case .base(let index):
            position = index
            id = base.list.ids[index]
            newID = base.list.slots.span[index].element?.id
        case .edit(let index):
            position = overlay.edits.list.span[index].position
            id = base.list.ids[position]
            newID = overlay.edits.list.span[index].slot.element?.id
        case .tail(let offset):
            position = offset + kept
            id = overlay.tail.ids[offset]
            newID = overlay.tail.slots.span[offset].element?.id
        }
        guard let newID, newID == id else { return finish(id, newID, at: position) }
        foldIfHeavy()
        if observed != nil { tellReplacement(of: id, by: element(at: position)) }
    }

    /// Puts an element, or nothing, in the place of the one at a valid position, which is returned.
    @inlinable
    @discardableResult
    mutating func exchange(at position: Int, _ element: Element?) -> Element? {
        let access = begin(at: position)
        defer { end(access) }
        var element = element
        switch access {
        case .base(let index):
            var slots = base.list.slots.mutableSpan
            swap(&slots[index].element, &element)
        case .edit(let index):
            var edits = overlay.edits.list.mutableSpan
            swap(&edits[index].slot.element, &element)
        case .tail(let offset):
            var slots = overlay.tail.slots.mutableSpan
            swap(&slots[offset].element, &element)
        }
        return element
    }

    /// Ends an edit that removed the element, or gave it another id.
    @inlinable
    mutating func finish(_ old: Element.ID, _ new: Element.ID?, at position: Int) {
        defer { tellOrder(new.map { [old, $0] } ?? [old]) }
        if let new {
            own()
            base.list.rename(at: position, to: new)
        } else if position == length - 1 {
            removeEnd()
        } else {
            own()
            base.list.remove(at: position)
        }
    }

    /// Appends an element whose id is not known yet.
    @inlinable
    mutating func appendNew(_ element: Element) {
        let slot = KeyedSlot(element, stamp: KeyedStamp.next())
        if ownsBase() {
            base.list.append(slot, id: element.id)
        } else {
            overlay.tail.append(slot, id: element.id)
            foldIfHeavy()
        }
        if observed != nil { tellOrder([element.id]) }
    }

    /// Removes the last of at least one element.
    @inlinable
    mutating func removeEnd() {
        if ownsBase() {
            base.list.removeLast(1)
            return
        }
        if overlay.tail.count > 0 {
            overlay.tail.removeLast(1)
        } else {
            overlay.cut += 1
            overlay.edits.remove(at: kept)
        }
    }

    /// Whether the base is nobody else's, so that it can be edited; it has everything then, and there is no overlay.
    @inlinable
    mutating func ownsBase() -> Bool {
        guard isKnownUniquelyReferenced(&base) else { return false }
        if !overlay.isEmpty { fold() }
        return true
    }

    /// Makes the base this collection's own, by copying it when it is shared.
    @inlinable
    mutating func own() {
        guard !ownsBase() else { return }
        base = KeyedBase(base.list)
        if !overlay.isEmpty { fold() }
    }

    /// Moves the overlay into the base, which must not be shared.
    ///
    /// For `isSettling` the edited elements are put in order, once the elements that they replace are gone: those share what is in them.
    @inlinable
    mutating func fold(isSettling: Bool = false) {
        foldEdits(isSettling: isSettling)
        guard !overlay.keepsOrder else { return }
        base.list.removeLast(overlay.cut)
        for (id, slot) in zip(overlay.tail.ids, overlay.tail.slots) { base.list.append(slot, id: id) }
        overlay = KeyedOverlay()
    }

    @inlinable
    mutating func foldEdits(isSettling: Bool) {
        guard overlay.edits.count > 0 else { return }
        var slots = base.list.slots.mutableSpan
        var edits = overlay.edits.list.mutableSpan
        for index in edits.indices {
            let position = edits[index].position
            slots[position].stamp = edits[index].slot.stamp
            slots[position].element = edits[index].slot.element.take()
            if isSettling { slots[position].element?._$settle() }
        }
        overlay.edits = KeyedEdits()
    }

    /// Copies the base once the overlay has so many elements that it is paid for.
    @inlinable
    mutating func foldIfHeavy() {
        guard overlay.weight > Self.overlayElementsMax else { return }
        foldIfHeavier(than: overlay.weight)
    }

    @inlinable
    mutating func foldIfHeavier(than weight: Int) {
        if weight * weight > length { own() }
    }

    /// Whether both share the bulk of their elements.
    package func sharesBase(with other: Keyed) -> Bool {
        base === other.base
    }

    /// How many elements it holds beside those that it shares, or could share.
    package var overlaidCount: Int { overlay.weight }
}
