import RivuletEventLoop

/// Values by connection: the slot is the index, and the generation tells whether it is the same connection.
struct SlotTable<Value> {
    private struct Slot {
        var generation: UInt32
        var value: Value?
    }

    private var slots: [Slot] = []
    /// How many values there are.
    private(set) var count = 0

    /// The value of a connection; nil when it has none, or is gone.
    subscript(id: ConnectionID) -> Value? {
        get {
            guard Int(id.slot) < slots.count, slots[Int(id.slot)].generation == id.generation else { return nil }
            return slots[Int(id.slot)].value
        }
        set {
            let slot = Int(id.slot)
            guard slot < slots.count || newValue != nil else { return }
            while slots.count <= slot { slots.append(Slot(generation: 0, value: nil)) }
            guard newValue != nil || slots[slot].generation == id.generation else { return }
            count += (newValue == nil ? 0 : 1) - (slots[slot].value == nil ? 0 : 1)
            slots[slot] = Slot(generation: id.generation, value: newValue)
        }
    }

    /// Edits the value of a connection in place; nil when it has none.
    mutating func update<Result>(_ id: ConnectionID, _ body: (inout Value) -> Result) -> Result? {
        let slot = Int(id.slot)
        guard slot < slots.count, slots[slot].generation == id.generation, slots[slot].value != nil else { return nil }
        guard var value = slots[slot].value.take() else { return nil }
        defer { slots[slot].value = value }
        return body(&value)
    }

    /// The connections that have values.
    var ids: [ConnectionID] {
        slots.indices.compactMap { index in
            slots[index].value == nil ? nil : ConnectionID(slot: UInt32(index), generation: slots[index].generation)
        }
    }
}
