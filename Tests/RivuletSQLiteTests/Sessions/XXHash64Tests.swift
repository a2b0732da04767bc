// Checks the checksum of items against values of other implementations.

import RivuletSQLite
import Testing

@Suite struct XXHash64Tests {
    @Test(
        arguments: [
            ("", 0, 0xEF46_DB37_51D8_E999), ("a", 0, 0xD24E_C4F1_A98C_6E5B), ("as", 0, 0x1C33_0FB2_D66B_E179),
            ("asd", 0, 0x631C_37CE_72A9_7393), ("asdf", 0, 0x4158_72F5_99CE_A71E),
            ("xxhash", 20_141_025, 0xB559_B98D_844E_0635),
            ("Nobody inspects the spammish repetition", 0, 0xFBCE_A83C_8A37_8BF1),
            ("Call me Ishmael. Some years ago--never mind how long precisely-", 0, 0x02A2_E854_70D6_FD96),
        ] as [(String, UInt64, UInt64)]
    )
    func `hashes like other implementations`(text: String, seed: UInt64, expected: UInt64) {
        let hash = unsafe Array(text.utf8).withUnsafeBytes { unsafe XXHash64.hash($0, seed: seed) }
        #expect(hash == expected)
    }

    @Test func `the hash depends on every bit and on the seed`() {
        let bytes = (0..<100).map { UInt8($0) }
        var hashes: Set<UInt64> = []
        for bit in 0..<800 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            hashes.insert(unsafe flipped.withUnsafeBytes { unsafe XXHash64.hash($0, seed: 0) })
        }
        for bit in 0..<64 {
            hashes.insert(unsafe bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: 1 << UInt64(bit)) })
        }
        hashes.insert(unsafe bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: 0) })
        #expect(hashes.count == 865)
    }
}
