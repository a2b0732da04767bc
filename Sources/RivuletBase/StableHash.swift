/// The FNV-1a hash, which is the same in every process.
///
/// Source: <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>
package struct StableHash {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    /// Adds a text with its length, so that it cannot be mistaken for a part of its neighbours.
    package mutating func add(text: String) {
        add("\(text.utf8.count):".utf8)
        add(text.utf8)
    }
}
