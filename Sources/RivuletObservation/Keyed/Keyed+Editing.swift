// This file owns the public edits of a keyed collection.

public import RivuletBase

extension Keyed {
    /// The element with this id, or nil; edited in place.
    ///
    /// Setting nil removes the element. Setting an element under an absent id appends the element. If the collection
    /// has the new element's own id, the element with this id is replaced instead. An edit can change an element's id:
    /// the element keeps its position, and any other element with the new id is removed.
    @inlinable
    public subscript(id id: Element.ID) -> Element? {
        get {
            guard observed == nil else { return observedElement(id: id) }
            return position(of: id).map { element(at: $0) }
        }
        set {
            if let position = position(of: id) {
                exchange(at: position, newValue)
            } else if let newValue {
                updateOrAppend(newValue)
            }
        }
        _modify {
            switch position(of: id).map({ begin(at: $0) }) {
            case .base(let position) where base.tree.isFlat:
                defer { end(.base(position)) }
                var slots = base.tree.flatValues.mutableSpan
                yield &slots[position].element
            case .base(let position):
                // The element is taken out of its leaf during the edit, because a path of nodes cannot be yielded.
                var element = base.tree.update(at: position) { $0.element.take() }
                defer {
                    base.tree.update(at: position) { swap(&$0.element, &element) }
                    end(.base(position))
                }
                yield &element
            case .edit(let index):
                defer { end(.edit(index)) }
                var edits = overlay.edits.list.mutableSpan
                yield &edits[index].slot.element
            case .tail(let offset):
                defer { end(.tail(offset)) }
                var slots = overlay.tail.slots.mutableSpan
                yield &slots[offset].element
            case nil:
                var element: Element?
                defer { if let element { updateOrAppend(element) } }
                yield &element
            }
        }
    }

    /// Adds an element at the end, unless the collection has an element with its id.
    @inlinable
    @discardableResult
    public mutating func append(_ element: Element) -> (inserted: Bool, index: Int) {
        if let position = position(of: element.id) { return (false, position) }
        appendNew(element)
        return (true, length - 1)
    }

    /// Adds elements at the end, except elements with ids that the collection already has.
    @inlinable
    public mutating func append(contentsOf elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    /// Adds an element at a position, unless the collection has an element with its id.
    ///
    /// A position before the start means the start, and a position past the end means the end, because the position may
    /// come from a client.
    @inlinable
    @discardableResult
    public mutating func insert(_ element: Element, at position: Int) -> (inserted: Bool, index: Int) {
        if let known = self.position(of: element.id) { return (false, known) }
        let position = Swift.max(position, 0)
        guard position < length else { return append(element) }
        own()
        base.tree.insert(KeyedSlot(element, stamp: KeyedStamp.next()), under: Key(element.id), at: position)
        if observed != nil { tellOrder([element.id]) }
        return (true, position)
    }

    /// Replaces the element with the same id and returns the old one, or appends the new element.
    @inlinable
    @discardableResult
    public mutating func updateOrAppend(_ element: Element) -> Element? {
        guard let position = position(of: element.id) else {
            appendNew(element)
            return nil
        }
        return exchange(at: position, element)
    }

    /// Removes the element with this id and returns it; nil if there is none.
    @inlinable
    @discardableResult
    public mutating func remove(id: Element.ID) -> Element? {
        position(of: id).flatMap { remove(at: $0) }
    }

    /// Removes and returns the element at a position; nil if there is none.
    @inlinable
    @discardableResult
    public mutating func remove(at position: Int) -> Element? {
        guard position >= 0, position < length else { return nil }
        guard position < length - 1 else { return popLast() }
        own()
        let element = base.tree.remove(at: position).value.value
        if observed != nil { tellOrder([element.id]) }
        return element
    }

    /// Removes and returns the last element; there must be one.
    @inlinable
    @discardableResult
    public mutating func removeLast() -> Element {
        guard let element = popLast() else { preconditionFailure("removeLast() on an empty collection") }
        return element
    }

    /// Removes and returns the last element; nil if there is none.
    @inlinable
    public mutating func popLast() -> Element? {
        guard length > 0 else { return nil }
        let element = element(at: length - 1)
        removeEnd()
        if observed != nil { tellOrder([element.id]) }
        return element
    }

    /// Removes all elements.
    @inlinable
    public mutating func removeAll() {
        let removed = observed == nil ? [] : ids
        base = KeyedBase(Tree())
        overlay = KeyedOverlay()
        tellOrder(removed)
    }

    /// Removes the elements that satisfy the condition.
    ///
    /// - Throws: what the condition throws; nothing is removed then.
    @inlinable
    public mutating func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        let kept = try slots { try !isRemoved($0) }
        guard kept.count < length else { return }
        let before = observed == nil ? [] : ids
        base = KeyedBase(KeyedList(slots: kept).tree)
        overlay = KeyedOverlay()
        tellOrder(before.filter { position(of: $0) == nil })
    }

    /// A collection of the elements that satisfy the condition, in their order.
    ///
    /// - Throws: what the condition throws.
    @inlinable
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> Keyed {
        Keyed(KeyedList(slots: try slots(where: isIncluded)))
    }

    /// Moves the element with this id to a position, and returns false if there is no such element.
    ///
    /// The element is then at `position`. A position before the start means the start, and a position past the end
    /// means the end, because the position may come from a client.
    @inlinable
    @discardableResult
    public mutating func move(id: Element.ID, to position: Int) -> Bool {
        guard let old = self.position(of: id) else { return false }
        let position = Swift.min(Swift.max(position, 0), length - 1)
        guard old != position else { return true }
        own()
        let (key, slot) = base.tree.remove(at: old)
        base.tree.insert(slot, under: key, at: position)
        tellOrder([])
        return true
    }

    /// Orders the elements; equal elements keep their order.
    ///
    /// - Throws: what the comparison throws; nothing is moved then.
    @inlinable
    public mutating func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
        let sorted = try slots { _ in true }.sorted { try areInIncreasingOrder($0.value, $1.value) }
        base = KeyedBase(KeyedList(slots: ContiguousArray(sorted)).tree)
        overlay = KeyedOverlay()
        tellOrder([])
    }

    @inlinable
    func slots(
        where isIncluded: (Element) throws -> Bool
    ) rethrows -> ContiguousArray<KeyedSlot<Element>> {
        var slots = ContiguousArray<KeyedSlot<Element>>()
        for position in 0..<length {
            let element = observed == nil ? element(at: position) : observedElement(at: position)
            if try isIncluded(element) { slots.append(slot(at: position)) }
        }
        if length == 0 { observed?.accessOrder() }
        return slots
    }
}
