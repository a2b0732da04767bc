// Part of Rivulet. See README.md for the architecture.
// This file owns where a keyed collection's edits go: into its base while nobody shares it, else into the overlay.

public import OrderedCollections

/// Where an element was taken from, so that it can be put back.
@usableFromInline
enum KeyedAccess {
    /// The base, at a position.
    case base(Int)
    /// The overlay's edits, or the base that is shared, at a base position: it goes into the edits.
    case overlaid(Int)
    /// The overlay's tail, at an offset in it.
    case tail(Int)
}

extension Keyed {
    /// Takes the element at a valid position out for an edit, under a new stamp; `put` must follow.
    @inlinable
    mutating func take(at position: Int) -> (slot: KeyedSlot<Element>, access: KeyedAccess) {
        var slot: KeyedSlot<Element>
        let access: KeyedAccess
        if ownsBase() {
            slot = base.list.slots[position].take()
            access = .base(position)
        } else {
            if position >= kept {
                slot = overlay.tail.slots[position - kept].take()
                access = .tail(position - kept)
            } else {
                let (index, isThere) = overlay.edits.index(of: position)
                slot = isThere ? overlay.edits.list[index].slot.take() : base.list.slots[position]
                access = .overlaid(position)
            }
        }
        place.enter(&slot)
        if observed != nil { observe(&slot) }
        slot.stamp = KeyedStamp.next()
        return (slot, access)
    }

    /// Puts an element back after its edit; without an element the place is removed.
    @inlinable
    mutating func put(_ slot: KeyedSlot<Element>, _ access: KeyedAccess, id: Element.ID) {
        let position: Int
        switch access {
        case .base(let index):
            base.list.slots[index] = slot
            position = index
        case .overlaid(let index):
            overlay.edits.put(slot, at: index)
            position = index
        case .tail(let offset):
            overlay.tail.slots[offset] = slot
            position = offset + kept
        }
        guard let newID = slot.element?.id, newID == id else { return finish(id, slot.element?.id, at: position) }
        foldIfHeavy()
        if observed != nil { tellReplacement(of: id, by: slot.element) }
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
    @inlinable
    mutating func fold() {
        base.list.removeLast(overlay.cut)
        for index in overlay.edits.list.indices {
            base.list.slots[overlay.edits.list[index].position] = overlay.edits.list[index].slot
        }
        for (id, slot) in zip(overlay.tail.ids, overlay.tail.slots) { base.list.append(slot, id: id) }
        overlay = KeyedOverlay()
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
