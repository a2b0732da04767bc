// This file owns the tracking of keyed collections, element by element, in runs and replays.

import RivuletBase
public import RivuletJSON

extension Keyed: StateNode {
    // swift-format-ignore: NoLeadingUnderscores
    /// Takes the serial of the collection's location; no element has been written since then.
    @inlinable
    public mutating func _$enter(_ serial: UInt64) {
        stamps = KeyedStamps(serial: serial)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Moves edited elements from the overlay back into the base, if no copy shares the base any more.
    @inlinable
    public mutating func _$settle() {
        guard !overlay.isEmpty, isKnownUniquelyReferenced(&base) else { return }
        fold(isSettling: true)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Always true: a replaced collection is compared element by element too.
    @inlinable public static var _$isComparedByParts: Bool { true }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reports added, removed, moved and changed elements; returns false, and reports nothing, if there are too many
    /// changes.
    @inlinable
    public static func _$collect(
        from old: Keyed,
        to new: Keyed,
        serial: UInt64?,
        into collector: inout Generated.ChangeCollector
    ) -> Bool {
        if collector.purpose == .differences, new.isEditOnly(since: old) {
            let start = collector.checkpoint
            new.collectEdits(since: old, serial: serial, into: &collector)
            let changes = collector.checkpoint.changes - start.changes
            if !KeyedDifference<Element>.isTooMany(changes, of: new.length) { return true }
            collector.goBack(to: start)
        }
        return compare(old, new, serial: serial, into: &collector)
    }

    /// Returns true if the only difference from `old` is a few edited elements of the common base.
    @inlinable
    func isEditOnly(since old: Keyed) -> Bool {
        base === old.base && overlay.keepsOrder && overlay.edits.count <= Self.overlayElementsMax
            && old.overlay.keepsOrder
            && old.overlay.edits.list.allSatisfy { overlay.edits.index(of: $0.position).isThere }
    }

    /// Reports the differences in the edited elements.
    @inlinable
    func collectEdits(since old: Keyed, serial: UInt64?, into collector: inout Generated.ChangeCollector) {
        let edits = overlay.edits.list
        for index in edits.indices {
            let position = edits[index].position
            let stamp = old.stamp(at: position)
            guard stamp != edits[index].slot.stamp else { continue }
            let before = old.element(at: position)
            let element = edits[index].slot.value
            let id = element.id
            let expected = serial.map { KeyedStamps.serial(of: stamp, in: $0) }
            collector.element(id.keyPathToken, before, element, serial: expected)
        }
    }

    @inlinable
    static func compare(
        _ old: Keyed,
        _ new: Keyed,
        serial: UInt64?,
        into collector: inout Generated.ChangeCollector
    ) -> Bool {
        if collector.purpose == .coercions {
            for element in new { collector.element(element.id.keyPathToken, element, element, serial: nil) }
            return true
        }
        return KeyedDifference(from: old, to: new).report(serial: serial, into: &collector)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Replaces this collection by the array in the document.
    public mutating func _$merge(json reader: inout JSONReader) throws(JSONError) {
        self = try Self(json: &reader)
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Applies a recorded change to the collection, to the order of its elements, or below an element.
    ///
    /// An index past the end means the end. An added element replaces the element with its id.
    public mutating func _$apply(
        _ operation: StateChange.Operation,
        at path: ArraySlice<String>,
        index: Int?,
        json reader: inout JSONReader
    ) throws(JSONError) {
        guard let token = path.first else {
            self = try Generated.StateCoding.whole(operation, json: &reader)
            return
        }
        let rest = path.dropFirst()
        guard rest.isEmpty, operation != .replace else {
            return try edit(token, operation, at: rest, index: index, json: &reader)
        }
        if operation == .add { return try add(token, at: index, json: &reader) }
        guard let position = position(token: token) else { throw Generated.StateCoding.noField(token, reader) }
        try reader.skip()
        let slot = takeOut(at: position)
        if operation == .move { putIn(slot, at: index) }
    }

    private mutating func add(_ token: String, at index: Int?, json reader: inout JSONReader) throws(JSONError) {
        let offset = reader.offset
        let element = try Element(json: &reader)
        guard element.id.keyPathToken.utf8.elementsEqual(token.utf8) else {
            let detail = "the element recorded under \"\(token)\" has the id \"\(element.id)\""
            throw JSONError(kind: .mismatch, offset: offset, pointer: reader.pointer, detail: detail)
        }
        remove(id: element.id)
        putIn(KeyedSlot(element, stamp: KeyedStamp.next()), at: index)
    }

    private mutating func edit(
        _ token: String,
        _ operation: StateChange.Operation,
        at path: ArraySlice<String>,
        index: Int?,
        json reader: inout JSONReader
    ) throws(JSONError) {
        guard let position = position(token: token) else { throw Generated.StateCoding.noField(token, reader) }
        try self[id: id(at: position)]?._$apply(operation, at: path, index: index, json: &reader)
    }

    private mutating func takeOut(at position: Int) -> KeyedSlot<Element> {
        let slot = slot(at: position)
        remove(at: position)
        return slot
    }

    private mutating func putIn(_ slot: KeyedSlot<Element>, at index: Int?) {
        own()
        let position = Swift.min(Swift.max(index ?? length, 0), length)
        base.tree.insert(slot, under: Key(slot.value.id), at: position)
        if observed != nil { tellOrder([slot.value.id]) }
    }
}
