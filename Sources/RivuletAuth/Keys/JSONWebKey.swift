import RivuletAccess
import RivuletBase
import RivuletJSON

/// Reads one key of a JSON Web Key Set.
///
/// Source: RFC 7517 section 4, RFC 7518 section 6, RFC 8037 section 2.
struct JSONWebKey {
    /// The result of reading a key that is well-formed.
    enum Reading {
        case key(VerificationKey)
        /// The key is for another purpose, or its type, curve or algorithm is unknown here.
        ///
        /// Many identity providers publish such keys beside their keys for signatures.
        case skipped(KeyError)
    }

    /// The most bytes of a kid.
    static let idBytesMax = 255

    /// The members with private parts of RSA, EC and OKP keys.
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth"]

    /// The `kty` of a secret.
    static let secretKind = "oct"

    private let value: JSONValue
    /// The algorithm of an RSA key that names none.
    private let rsaAlgorithm: SignatureAlgorithm

    init(_ value: JSONValue, rsaAlgorithm: SignatureAlgorithm) {
        self.value = value
        self.rsaAlgorithm = rsaAlgorithm
    }

    /// The kid in quotes, or else the position from 0.
    static func name(of value: JSONValue, at index: Int) -> String {
        value["kid"]?.stringValue.map(ForeignText.quoted) ?? "at index \(index)"
    }

    func read() throws(KeyError) -> Reading {
        guard value.members != nil else { throw .notObject }
        let id = try text("kid")
        if let id, id.isEmpty || id.utf8.count > Self.idBytesMax {
            throw .member("kid", needs: "a string of 1 to \(Self.idBytesMax) bytes")
        }
        guard let kind = try text("kty") else { throw .member("kty", needs: "a string") }
        if kind != Self.secretKind, let name = Self.privateMembers.first(where: { value[$0] != nil }) {
            throw .privatePart(name)
        }
        if let reason = try otherPurpose() { return .skipped(reason) }
        var algorithm: SignatureAlgorithm?
        if let name = try text("alg") {
            algorithm = SignatureAlgorithm(name: name)
            guard algorithm != nil else { return .skipped(.unknown("algorithm", name)) }
        }
        switch kind {
        case Self.secretKind:
            try check(algorithm, isIn: [.hs256], of: kind)
            return .key(try VerificationKey(secret: try bytes("k"), id: id))
        case "RSA":
            try check(algorithm, isIn: [.rs256, .ps256], of: kind)
            let (modulus, exponent) = (try bytes("n"), try bytes("e"))
            let algorithm = algorithm ?? rsaAlgorithm
            return .key(try VerificationKey(modulus: modulus, exponent: exponent, algorithm: algorithm, id: id))
        case "EC": return try readCurve(algorithm, id)
        case "OKP":
            guard let curve = try text("crv") else { throw .member("crv", needs: "a string") }
            guard curve == "Ed25519" else { return .skipped(.unknown("curve", curve)) }
            try check(algorithm, isIn: [.edDSA], of: curve)
            return .key(try VerificationKey(ed25519: try bytes("x"), id: id))
        default: return .skipped(.unknown("kty", kind))
        }
    }

    private func readCurve(_ algorithm: SignatureAlgorithm?, _ id: String?) throws(KeyError) -> Reading {
        guard let curve = try text("crv") else { throw .member("crv", needs: "a string") }
        let own: SignatureAlgorithm
        switch curve {
        case "P-256": own = .es256
        case "P-384": own = .es384
        default: return .skipped(.unknown("curve", curve))
        }
        try check(algorithm, isIn: [own], of: curve)
        return .key(try VerificationKey(x: try bytes("x"), y: try bytes("y"), algorithm: own, id: id))
    }

    private func check(
        _ algorithm: SignatureAlgorithm?,
        isIn own: [SignatureAlgorithm],
        of kind: String
    ) throws(KeyError) {
        guard let algorithm, !own.contains(algorithm) else { return }
        throw .mixedUse("\"alg\" is \(algorithm.rawValue) and the key is \(kind)")
    }

    /// The reason that the key is not for verification; nil if it is.
    ///
    /// - Throws: An error if `use` and `key_ops` contradict each other.
    private func otherPurpose() throws(KeyError) -> KeyError? {
        let use = try text("use")
        let operations = try self.operations()
        if use == "sig", let other = operations?.first(where: { $0 != "verify" && $0 != "sign" }) {
            throw .mixedUse("\"use\" is \"sig\" and \"key_ops\" has \(ForeignText.quoted(other))")
        }
        if let use, use != "sig", operations?.contains("verify") == true {
            throw .mixedUse("\"use\" is \(ForeignText.quoted(use)) and \"key_ops\" has \"verify\"")
        }
        if let use, use != "sig" { return .notForVerification("\"use\" is \(ForeignText.quoted(use))") }
        if let operations, !operations.contains("verify") {
            return .notForVerification("\"key_ops\" has no \"verify\"")
        }
        return nil
    }

    private func operations() throws(KeyError) -> [String]? {
        guard let member = value["key_ops"] else { return nil }
        let texts = member.elements?.compactMap(\.stringValue)
        guard let texts, texts.count == member.elements?.count else {
            throw .member("key_ops", needs: "an array of strings")
        }
        var known: Set<ByteText> = []
        for text in texts where !known.insert(ByteText(text)).inserted { throw .repeatedOperation(text) }
        return texts
    }

    private func text(_ name: String) throws(KeyError) -> String? {
        guard let member = value[name] else { return nil }
        guard let text = member.stringValue else { throw .member(name, needs: "a string") }
        return text
    }

    private func bytes(_ name: String) throws(KeyError) -> [UInt8] {
        guard let bytes = try text(name).flatMap({ Base64URL.decode($0.utf8) }) else {
            throw .member(name, needs: "base64url without padding")
        }
        return bytes
    }
}
