/// The random numbers of a node: nonces and jitter, from the number of its run.
///
/// Source: <https://doi.org/10.1145/2660193.2660195>, SplitMix64.
struct NodeRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, `limit`.
    mutating func below(_ limit: Int64) -> Int64 {
        limit > 0 ? Int64(next() % UInt64(limit)) : 0
    }

    /// The time before the next attempt of a request that has failed this often: about 100 ms, doubled by each failure.
    mutating func delay(after failures: Int, most: Int64) -> Int64 {
        let delay = min(most, 100 << Int64(min(failures, 10)))
        return delay / 2 + below(delay / 2 + 1)
    }
}
