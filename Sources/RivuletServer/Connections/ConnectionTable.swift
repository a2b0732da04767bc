import RivuletEventLoop

/// The connections of one loop, by their slots.
///
/// `ConnectionDriver` opens and closes them. The stream driver only reads the table.
final class ConnectionTable {
    private var slots: [ClientConnection?] {
        _read { yield unsafe storedSlots }
        _modify { yield unsafe &storedSlots }
    }
    // SAFETY: one loop has the table, and no access calls other code, so accesses never overlap. Each event looks its
    // connection up here; a check would cost more than the look-up.
    @exclusivity(unchecked) private var storedSlots: [ClientConnection?] = []
    /// The number of open connections.
    private(set) var count = 0

    /// The connection of this id; nil once it has closed.
    subscript(id: ConnectionID) -> ClientConnection? {
        let slot = Int(id.slot)
        guard slot < slots.count, let connection = slots[slot], connection.id == id else { return nil }
        return connection
    }

    /// Adds a connection that has just been opened.
    func open(_ connection: ClientConnection) {
        let slot = Int(connection.id.slot)
        while slots.count <= slot { slots.append(nil) }
        if slots[slot] == nil { count += 1 }
        slots[slot] = connection
    }

    /// Removes a connection.
    func close(_ connection: ClientConnection) {
        let slot = Int(connection.id.slot)
        guard slot < slots.count, slots[slot] === connection else { return }
        slots[slot] = nil
        count -= 1
    }

    /// All connections, in the order of their slots.
    var all: some Sequence<ClientConnection> { slots.lazy.compactMap(\.self) }
}
