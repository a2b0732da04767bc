internal import CLibuv

/// The connections of one loop, by slot.
@safe
struct ConnectionTable: ~Copyable {
    @safe
    private struct Slot {
        var generation: UInt32 = 0
        // SAFETY: points to a connection from `add` to `remove`, and is nil otherwise.
        var connection: UnsafeMutablePointer<Connection>?
    }

    private var slots: [Slot] = []
    private var freeSlots: [UInt32] = []

    /// The number of connections, closing ones included.
    var count: Int { slots.count - freeSlots.count }

    /// The connection with this id; nil after its removal.
    subscript(id: ConnectionID) -> UnsafeMutablePointer<Connection>? {
        guard Int(id.slot) < slots.count else { return nil }
        let slot = slots[Int(id.slot)]
        return unsafe slot.generation == id.generation ? slot.connection : nil
    }

    /// Makes a connection in a free slot.
    mutating func add() -> UnsafeMutablePointer<Connection> {
        let index: UInt32
        if let free = freeSlots.popLast() {
            index = free
        } else {
            index = UInt32(slots.count)
            slots.append(Slot())
        }
        let generation = slots[Int(index)].generation &+ 1
        let connection = UnsafeMutablePointer<Connection>.allocate(capacity: 1)
        unsafe connection.initialize(to: Connection(id: ConnectionID(slot: index, generation: generation)))
        slots[Int(index)] = unsafe Slot(generation: generation, connection: connection)
        return unsafe connection
    }

    /// Frees the connection with this id, which libuv no longer uses.
    mutating func remove(_ id: ConnectionID) {
        guard let connection = unsafe self[id] else { preconditionFailure("connection \(id) is removed twice") }
        unsafe slots[Int(id.slot)].connection = nil
        freeSlots.append(id.slot)
        unsafe connection.deinitialize(count: 1)
        unsafe connection.deallocate()
    }

    /// The ids of all connections.
    var ids: [ConnectionID] {
        slots.indices.compactMap { index in
            let slot = slots[index]
            guard unsafe slot.connection != nil else { return nil }
            return ConnectionID(slot: UInt32(index), generation: slot.generation)
        }
    }
}
