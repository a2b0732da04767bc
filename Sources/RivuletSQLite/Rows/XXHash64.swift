/// XXH64, which detects damage but does not protect against attackers.
///
/// Source: <https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md>
package enum XXHash64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// Returns the hash of bytes.
    package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var offset = 0
        var hash = seed &+ prime5
        if bytes.count >= 32 {
            var (first, second) = (seed &+ prime1 &+ prime2, seed &+ prime2)
            var (third, fourth) = (seed, seed &- prime1)
            while offset + 32 <= bytes.count {
                first = round(first, unsafe word(bytes, offset))
                second = round(second, unsafe word(bytes, offset + 8))
                third = round(third, unsafe word(bytes, offset + 16))
                fourth = round(fourth, unsafe word(bytes, offset + 24))
                offset += 32
            }
            hash = rotate(first, 1) &+ rotate(second, 7) &+ rotate(third, 12) &+ rotate(fourth, 18)
            hash = merge(merge(merge(merge(hash, first), second), third), fourth)
        }
        hash &+= UInt64(bytes.count)
        while offset + 8 <= bytes.count {
            hash = rotate(hash ^ round(0, unsafe word(bytes, offset)), 27) &* prime1 &+ prime4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let word = unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            hash = rotate(hash ^ (UInt64(word) &* prime1), 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.count {
            hash = rotate(hash ^ (UInt64(unsafe bytes[offset]) &* prime5), 11) &* prime1
            offset += 1
        }
        hash = (hash ^ hash >> 33) &* prime2
        hash = (hash ^ hash >> 29) &* prime3
        return hash ^ hash >> 32
    }

    /// Returns a seed for two numbers.
    static func seed(_ first: Int64, _ second: Int64) -> UInt64 {
        UInt64(bitPattern: first) &* prime1 &+ UInt64(bitPattern: second)
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static func round(_ state: UInt64, _ word: UInt64) -> UInt64 {
        rotate(state &+ word &* prime2, 31) &* prime1
    }

    private static func merge(_ hash: UInt64, _ state: UInt64) -> UInt64 {
        (hash ^ round(0, state)) &* prime1 &+ prime4
    }

    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
}
