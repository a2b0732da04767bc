// Part of Rivulet. See README.md for the architecture.
// Owns the name that clients know a session's history by.

/// The epoch in cursors and documents, made of storage's.
enum VisibleEpoch {
    /// Another one for each schema version, so that a reader of before knows that what it has is of another shape; that of storage for
    /// the first.
    static func name(of epoch: String, schema: UInt32) -> String {
        guard schema != 1 else { return epoch }
        // FNV-1a, the same in every process. Source: https://datatracker.ietf.org/doc/html/draft-eastlake-fnv
        let hash = "\(epoch).\(schema)".utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return RandomToken.token(of: hash, count: 8)
    }
}
