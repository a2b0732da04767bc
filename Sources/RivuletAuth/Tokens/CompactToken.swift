import RivuletJSON

/// A signed token in its parts, before anything is verified.
///
/// Source: RFC 7515 sections 3.1 and 5.2.
package struct CompactToken: Sendable, CustomStringConvertible, CustomReflectable {
    /// The members that a header must not have.
    ///
    /// They would bring a key, change the meaning of the signature, or announce a token within the token.
    package static let refusedMembers = ["b64", "crit", "cty", "enc", "jku", "jwk", "x5c", "x5u", "zip"]

    package let algorithm: String?
    /// The type, without `application/` before it.
    package let type: String?
    package let keyID: String?
    package let payload: [UInt8]
    package let signature: [UInt8]
    /// The bytes that the signature signs.
    package let signed: ArraySlice<UInt8>

    /// Splits and decodes a token of at most ``TokenVerifier/tokenBytesMax`` bytes.
    package init(parsing token: ArraySlice<UInt8>) throws(CredentialError) {
        guard token.count <= TokenVerifier.tokenBytesMax else { throw .tooLong }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .parts(parts.count) }
        guard let header = Base64URL.decode(parts[0]) else { throw .notBase64URL(.header) }
        guard let payload = Base64URL.decode(parts[1]) else { throw .notBase64URL(.payload) }
        guard let signature = Base64URL.decode(parts[2]) else { throw .notBase64URL(.signature) }
        let members = try Self.object(header, .header)
        for name in Self.refusedMembers where members[name] != nil { throw .headerMember(name) }
        algorithm = try Self.text("alg", of: members)
        keyID = try Self.text("kid", of: members)
        type = try Self.text("typ", of: members).map { type in
            let prefix = "application/"
            return type.lowercased().hasPrefix(prefix) ? String(type.dropFirst(prefix.count)) : type
        }
        self.payload = payload
        self.signature = signature
        signed = token[parts[0].startIndex..<parts[1].endIndex]
    }

    /// The name of the type alone, so that no text contains a credential.
    package var description: String { "CompactToken" }

    /// An empty mirror, so that no dump contains a credential.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Checks that the token names the key's algorithm, and that the key has made the token's signature.
    package func verify(with key: VerificationKey) throws(CredentialError) {
        try checkAlgorithm(of: key)
        guard key.isValid(signature, of: signed) else { throw .signature }
    }

    func checkAlgorithm(of key: VerificationKey) throws(CredentialError) {
        guard let algorithm, SignatureAlgorithm(name: algorithm) == key.algorithm else {
            throw .algorithm(algorithm, expected: key.algorithm)
        }
        guard signature.count == key.signatureBytes else { throw .signature }
    }

    /// Reads an object of at most ``TokenVerifier/depthMax`` levels.
    static func object(_ bytes: [UInt8], _ part: CredentialError.Part) throws(CredentialError) -> JSONValue {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw .notJSON(part, error.kind)
        }
        guard value.members != nil else { throw .notJSON(part, .mismatch) }
        guard isShallow(value, levels: TokenVerifier.depthMax) else { throw .tooDeep(part) }
        return value
    }

    private static func isShallow(_ value: JSONValue, levels: Int) -> Bool {
        switch value {
        case .array(let elements): levels > 0 && elements.allSatisfy { isShallow($0, levels: levels - 1) }
        case .object(let members): levels > 0 && members.allSatisfy { isShallow($0.value, levels: levels - 1) }
        case .null, .bool, .number, .string: true
        }
    }

    private static func text(_ name: String, of members: JSONValue) throws(CredentialError) -> String? {
        guard let member = members[name] else { return nil }
        guard let text = member.stringValue else { throw .headerMember(name) }
        return text
    }
}
