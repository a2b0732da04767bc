/// The permanent id of one connection of one loop.
///
/// A slot is used again with another generation, so calls with the id of a closed connection do nothing.
package struct ConnectionID: Hashable, Sendable, CustomStringConvertible {
    /// The index in the loop's table, from 0; indexes are dense, so a delegate can have its own table by slot.
    package let slot: UInt32
    /// The count of the slot's uses, from 1.
    package let generation: UInt32

    /// Makes the id of one use of a slot.
    package init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    package var description: String { "\(slot).\(generation)" }
}
