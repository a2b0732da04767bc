// Part of Rivulet. See README.md for the architecture.
// This file owns where a keyed collection's edits go: into its base while nobody shares it, else into the overlay.

import RivuletJSON

/// Where an element was taken from, so that it can be put back.
@usableFromInline
enum KeyedAccess {
    /// The base, at a position.
    case base(Int)
    /// The base, which is shared: the element goes into the overlay.
    case sharedBase(Int)
    /// The overlay's edits, at a base position.
    case edits(Int)
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
            let overlay = ownedOverlay()
            if position >= overlay.kept {
                slot = overlay.tail.slots[position - overlay.kept].take()
                access = .tail(position - overlay.kept)
            } else if let index = overlay.edits.index(forKey: position) {
                slot = overlay.edits.values[index].take()
                access = .edits(position)
            } else {
                slot = base.list.slots[position]
                access = .sharedBase(position)
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
        let overlay = overlay
        let position: Int
        switch access {
        case .base(let index):
            base.list.slots[index] = slot
            position = index
        case .sharedBase(let index), .edits(let index):
            overlay?.edits[index] = slot
            position = index
        case .tail(let offset):
            overlay?.tail.slots[offset] = slot
            position = offset + (overlay?.kept ?? 0)
        }
        guard let newID = slot.element?.id, newID == id else { return finish(id, slot.element?.id, at: position) }
        foldIfHeavy()
        if observed != nil { tellReplacement(of: id, by: slot.element) }
    }

    /// Ends an edit that removed the element, or gave it another id.
    @usableFromInline
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
            ownedOverlay().tail.append(slot, id: element.id)
            foldIfHeavy()
        }
        if observed != nil { tellOrder([element.id]) }
    }

    /// Removes the last of at least one element.
    mutating func removeEnd() {
        if ownsBase() {
            base.list.removeLast(1)
            return
        }
        let overlay = ownedOverlay()
        if overlay.tail.count > 0 {
            overlay.tail.removeLast(1)
        } else {
            overlay.kept -= 1
            overlay.edits[overlay.kept] = nil
        }
    }

    /// Whether the base is nobody else's, so that it can be edited; it has everything then, and there is no overlay.
    @inlinable
    mutating func ownsBase() -> Bool {
        guard isKnownUniquelyReferenced(&base) else { return false }
        if overlay != nil { fold() }
        return true
    }

    /// Makes the base this collection's own, by copying it when it is shared.
    mutating func own() {
        guard !ownsBase() else { return }
        base = KeyedBase(base.list)
        if overlay != nil { fold() }
    }

    /// Moves the overlay into the base, which must not be shared.
    @usableFromInline
    mutating func fold() {
        guard let overlay else { return }
        base.list.removeLast(base.list.count - overlay.kept)
        for (position, slot) in overlay.edits { base.list.slots[position] = slot }
        for (id, slot) in zip(overlay.tail.ids, overlay.tail.slots) { base.list.append(slot, id: id) }
        self.overlay = nil
    }

    /// The overlay, made this collection's own.
    @inlinable
    mutating func ownedOverlay() -> KeyedOverlay<Element> {
        if isKnownUniquelyReferenced(&overlay), let overlay { return overlay }
        let owned = overlay?.copy() ?? KeyedOverlay(kept: base.list.count)
        overlay = owned
        return owned
    }

    /// Copies the base once the overlay has so many elements that it is paid for.
    @inlinable
    mutating func foldIfHeavy() {
        guard let overlay, overlay.weight > Self.overlayElementsMax else { return }
        foldIfHeavier(than: overlay.weight)
    }

    @usableFromInline
    mutating func foldIfHeavier(than weight: Int) {
        if weight * weight > length { own() }
    }

    /// Whether both share the bulk of their elements.
    package func sharesBase(with other: Keyed) -> Bool {
        base === other.base
    }

    /// How many elements it holds beside those that it shares, or could share.
    package var overlaidCount: Int { overlay?.weight ?? 0 }
}
