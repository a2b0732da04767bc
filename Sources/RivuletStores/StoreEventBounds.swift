// Part of Rivulet. See README.md for the architecture.
// Owns how much a queue of a store's events holds.

/// The bounds of a ``StoreHistory``.
struct StoreEventBounds: Sendable {
    let eventsMax: Int
    let itemsMax: Int
    /// Of keys and documents: an item that was replaced stays in memory as long as an event that has it.
    let bytesMax: Int
}
