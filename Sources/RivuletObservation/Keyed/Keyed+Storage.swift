public import OrderedCollections
public import RivuletBase

/// The location of an element that is being edited.
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
    /// Begins an in-place edit of the element at a valid position, and gives the element a new stamp.
    ///
    /// A call of `end` must follow.
    @inlinable
    mutating func begin(at position: Int) -> KeyedAccess {
        let stamps = stamps
        let observed = observed
        if ownsBase() {
            base.tree.update(at: position) { stamps.enter(&$0, observed) }
            return .base(position)
        }
        guard position < kept else {
            let offset = position - kept
            var slots = overlay.tail.slots.mutableSpan
            stamps.enter(&slots[offset], observed)
            return .tail(offset)
        }
        let (index, isThere) = overlay.edits.index(of: position)
        if !isThere { overlay.edits.insert(base.tree.value(at: position), of: position, at: index) }
        var edits = overlay.edits.list.mutableSpan
        stamps.enter(&edits[index].slot, observed)
        return .edit(index)
    }

    /// Ends an edit, and removes the element if it is nil now.
    @inlinable
    mutating func end(_ access: KeyedAccess) {
        let position: Int
        let id: Element.ID
        let newID: Element.ID?
        switch access {
        case .base(let index):
            position = index
            id = base.tree.key(at: index).id
            newID = base.tree.read(at: index) { $0.element?.id }
        case .edit(let index):
            position = overlay.edits.list.span[index].position
            id = base.tree.key(at: position).id
            newID = overlay.edits.list.span[index].slot.element?.id
        case .tail(let offset):
            position = offset + kept
            id = overlay.tail.keys[offset].id
            newID = overlay.tail.slots.span[offset].element?.id
        }
        guard let newID, newID.isSpelled(like: id) else { return finish(id, newID, at: position) }
        foldIfHeavy()
        if observed != nil { tellReplacement(of: id, by: element(at: position)) }
    }

    /// Replaces the element at a valid position, or removes it if `element` is nil, and returns the old element.
    @inlinable
    @discardableResult
    mutating func exchange(at position: Int, _ element: Element?) -> Element? {
        let access = begin(at: position)
        defer { end(access) }
        var element = element
        switch access {
        case .base(let index):
            base.tree.update(at: index) { swap(&$0.element, &element) }
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
            rename(at: position, to: new)
        } else if position == length - 1 {
            removeEnd()
        } else {
            own()
            base.tree.remove(at: position)
        }
    }

    /// Gives the element at a position a new id, and removes any other element with this id.
    ///
    /// The base must not be shared.
    @inlinable
    mutating func rename(at position: Int, to id: Element.ID) {
        let other = base.tree.position(of: Key(id))
        if let other { base.tree.remove(at: other) }
        base.tree.rename(at: other.map { $0 < position } == true ? position - 1 : position, to: Key(id))
    }

    /// Appends an element with a new id.
    @inlinable
    mutating func appendNew(_ element: Element) {
        let slot = KeyedSlot(element, stamp: KeyedStamp.next())
        if ownsBase() {
            base.tree.append(slot, under: Key(element.id))
        } else {
            overlay.tail.append(slot, id: element.id)
            foldIfHeavy()
        }
        if observed != nil { tellOrder([element.id]) }
    }

    /// Removes the last element; there must be one.
    @inlinable
    mutating func removeEnd() {
        if ownsBase() {
            base.tree.removeLast(1)
            return
        }
        if overlay.tail.count > 0 {
            overlay.tail.removeLast()
        } else {
            overlay.cut += 1
            overlay.edits.remove(at: kept)
        }
    }

    /// Returns true if no other collection shares the base, so that the base can be edited.
    ///
    /// If so, the overlay is moved into the base first.
    @inlinable
    mutating func ownsBase() -> Bool {
        guard isKnownUniquelyReferenced(&base) else { return false }
        if !overlay.isEmpty { fold() }
        return true
    }

    /// Makes the base this collection's own; a shared base is copied in O(1).
    @inlinable
    mutating func own() {
        guard !ownsBase() else { return }
        base = KeyedBase(base.tree)
        if !overlay.isEmpty { fold() }
    }

    /// Moves the overlay into the base, which must not be shared.
    ///
    /// With `isSettling`, each edited element also finishes its deferred work.
    @inlinable
    mutating func fold(isSettling: Bool = false) {
        foldEdits(isSettling: isSettling)
        guard !overlay.keepsOrder else { return }
        base.tree.removeLast(overlay.cut)
        for (key, slot) in zip(overlay.tail.keys, overlay.tail.slots) { base.tree.append(slot, under: key) }
        overlay = KeyedOverlay()
    }

    @inlinable
    mutating func foldEdits(isSettling: Bool) {
        guard overlay.edits.count > 0 else { return }
        let base = base
        var edits = overlay.edits.list.mutableSpan
        for index in edits.indices {
            let stamp = edits[index].slot.stamp
            var element = edits[index].slot.element.take()
            base.tree.update(at: edits[index].position) { slot in
                slot.stamp = stamp
                swap(&slot.element, &element)
            }
            // The old element is released first, because it shares contents with the new element. Deferred work can be
            // finished only in contents that are not shared.
            element = nil
            if isSettling { base.tree.update(at: edits[index].position) { $0.element?._$settle() } }
        }
        overlay.edits = KeyedEdits()
    }

    /// Copies the base if the overlay has so many elements that the copy is worth its cost.
    @inlinable
    mutating func foldIfHeavy() {
        guard overlay.weight > Self.overlayElementsMax else { return }
        foldIfHeavier(than: overlay.weight)
    }

    @inlinable
    mutating func foldIfHeavier(than weight: Int) {
        if weight * weight > length { own() }
    }

    /// Returns true if both collections share the base, which holds most of their elements.
    package func sharesBase(with other: Keyed) -> Bool {
        base === other.base
    }

    /// The number of elements that this collection holds outside of its base, which can be shared.
    package var overlaidCount: Int { overlay.weight }
}
