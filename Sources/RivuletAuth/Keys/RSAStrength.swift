/// The checks of a public key of RSA that do not depend on its use.
enum RSAStrength {
    static let modulusBitsMin = 2_048
    /// The work of a verification grows with the square of the modulus.
    static let modulusBitsMax = 8_192
    /// The standard's smallest exponent, and the 33 bits that BoringSSL takes.
    ///
    /// Source: <https://csrc.nist.gov/pubs/fips/186-5/final>, section A.1.1.
    static let exponentRange: ClosedRange<UInt64> = 65_537...0x1_FFFF_FFFF

    /// Checks the sizes, the forms, and the pattern of a known fault of key generators.
    static func check(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) {
        guard let first = modulus.first, first != 0, exponent.first != 0 else { throw .leadingZero }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        guard bits >= modulusBitsMin else { throw .shortModulus(bits: bits) }
        guard bits <= modulusBitsMax else { throw .longModulus(bits: bits) }
        guard exponent.count <= 8 else { throw .exponent }
        let value = exponent.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard exponentRange.contains(value), value % 2 == 1 else { throw .exponent }
        guard let last = modulus.last, last % 2 == 1 else { throw .invalidRSA }
        guard !isPredictable(modulus) else { throw .predictableModulus }
    }

    /// The primes modulo which the powers of 65537 are few.
    private static let primes = [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157]

    /// Returns true if the modulus has the pattern of a faulty key generator (CVE-2017-15361).
    ///
    /// Such a key can be factored. Modulo each small prime its modulus is a power of 65537. A sound modulus has the
    /// pattern once in 2^27.
    /// Source: <https://crocs.fi.muni.cz/public/papers/rsa_ccs17>.
    private static func isPredictable(_ modulus: [UInt8]) -> Bool {
        primes.allSatisfy { prime in
            let rest = modulus.reduce(0) { ($0 << 8 | Int($1)) % prime }
            var power = 1
            repeat {
                if power == rest { return true }
                power = power * 65_537 % prime
            } while power != 1
            return false
        }
    }
}
