// Part of Rivulet. See README.md for the architecture.
// Owns the account of what the sessions of a shard take of memory.

/// Counts the bytes of a shard's resident sessions; each of them tells it when it takes more or less.
///
/// On the shard's thread.
package final class ResidentMemory {
    /// What all of them take, roughly.
    private(set) var bytes = 0

    /// Adds what came, or takes away what went.
    func add(_ bytes: Int) {
        self.bytes += bytes
    }
}
