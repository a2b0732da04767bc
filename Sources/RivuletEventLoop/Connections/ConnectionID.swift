/// Names one connection of one loop, for ever: a slot is used again under another generation, so calls with the id of a
/// connection that has gone do nothing.
package struct ConnectionID: Hashable, Sendable, CustomStringConvertible {
    /// The index in the loop's table, from 0; dense, so a delegate can keep its own table by slot.
    package let slot: UInt32
    /// Counts the uses of the slot, from 1.
    package let generation: UInt32

    /// The id of this use of this slot.
    package init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    package var description: String { "\(slot).\(generation)" }
}
