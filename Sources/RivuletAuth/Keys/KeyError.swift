import RivuletAccess

/// The error of a key that is refused when it is read.
///
/// The description is the end of a line, "The key "a" …", and contains the fix.
package enum KeyError: Error, Hashable, CustomStringConvertible {
    case notObject
    case member(String, needs: String)
    case privatePart(String)
    case mixedUse(String)
    case repeatedOperation(String)
    case notForVerification(String)
    case unknown(String, String)
    case otherAlgorithm(String, of: String)
    case shortSecret(bytes: Int)
    case secretIsPEM
    case secretIsDocument
    case privatePEM
    case publicPEM
    case encryptedPEM
    case otherPrivatePEM(String)
    case otherPEM
    case algorithmMissing
    case leadingZero
    case shortModulus(bits: Int)
    case longModulus(bits: Int)
    case exponent
    case predictableModulus
    case invalidRSA
    case coordinate(String, bytes: Int, expected: Int, curve: String)
    case offCurve
    case smallOrder
    case sameID
    case noID
    case mixedKinds
    case publicSecret

    package var description: String {
        switch self {
        case .notObject: "is not an object. Write each key as RFC 7517 has it."
        case .member(let name, let needs): "needs \(needs) as \"\(name)\"."
        case .privatePart(let name):
            "has the private member \"\(name)\". Give the public key only, and replace a key that leaked."
        case .mixedUse(let text): "contradicts itself: \(text). Correct one of the members."
        case .repeatedOperation(let text): "has \(ForeignText.quoted(text)) twice in \"key_ops\". Remove one."
        case .notForVerification(let text): "is not for signatures: \(text). It is not used."
        case .unknown(let name, let text):
            "has the \(name) \(ForeignText.quoted(text)), which is not known here. Use one of \(Self.known)."
        case .otherAlgorithm(let algorithm, let kind):
            "is no key of \(algorithm): it is another key of \(kind). Name its algorithm, one of \(Self.known)."
        case .shortSecret(let bytes):
            "is a secret of \(bytes) bytes. Use at least \(VerificationKey.secretBytesMin): openssl rand -out FILE 48"
        case .secretIsPEM:
            "is a PEM document given as a secret. Name the algorithm with --jwt-alg."
        case .secretIsDocument:
            "is a public document given as a secret. Make a secret: openssl rand -out FILE 48"
        case .privatePEM: "is a private key. Give the public one: openssl pkey -in FILE -pubout"
        case .publicPEM: "is a public key, which signs nothing. Give the private key of the pair."
        case .encryptedPEM: "is encrypted. Give the key in clear, with mode 0600: openssl pkey -in FILE -out CLEAR"
        case .otherPrivatePEM(let algorithm):
            "is not one PEM document \"PRIVATE KEY\" of \(algorithm). Make one: openssl genpkey, or openssl pkey -in FILE"
        case .otherPEM: "is not one PEM document \"PUBLIC KEY\". Make one: openssl pkey -pubin -in FILE -pubout"
        case .algorithmMissing: "is a PEM document without an algorithm. Name it with --jwt-alg, one of \(Self.known)."
        case .leadingZero:
            "has an empty \"n\" or \"e\", or one that begins with zero. Remove leading zeros."
        case .shortModulus(let bits): "is an RSA key of \(bits) bits. Use at least \(RSAStrength.modulusBitsMin)."
        case .longModulus(let bits): "is an RSA key of \(bits) bits. Use at most \(RSAStrength.modulusBitsMax)."
        case .exponent: "has a public exponent out of range. Use 65537."
        case .predictableModulus: "was made by a faulty generator (CVE-2017-15361) and can be factored. Make a new key."
        case .invalidRSA: "is not a valid RSA key. Make a new key."
        case .coordinate(let name, let bytes, let expected, let curve):
            "has \(bytes) bytes in \"\(name)\". \(curve) needs \(expected)."
        case .offCurve: "is not a point of its curve. Copy the key again."
        case .smallOrder: "is a point of small order, for which a signature needs no key. Make a new key."
        case .sameID: "has the kid of an earlier key. Give each key its own."
        case .noID: "has no kid, and the set has several keys. Give each key its own kid."
        case .mixedKinds:
            "is of another kind than the first key. A set has public keys or secrets. Split the set."
        case .publicSecret: "is a secret in a public set. Use public keys."
        }
    }

    private static let known = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
}
