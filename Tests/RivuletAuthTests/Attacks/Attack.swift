import RivuletAuth

/// A token that must be refused, made for an issuer's key.
struct Attack: Sendable, CustomStringConvertible {
    let name: String
    /// The word of the log for the refusal.
    let reason: String
    /// Nil if the attack fits all kinds of keys.
    var kinds: Set<TestIssuer.Kind>?
    let token: @Sendable (TestIssuer) throws -> String

    init(
        _ name: String,
        _ reason: String,
        kinds: Set<TestIssuer.Kind>? = nil,
        token: @escaping @Sendable (TestIssuer) throws -> String
    ) {
        (self.name, self.reason, self.kinds, self.token) = (name, reason, kinds, token)
    }

    var description: String { name }

    static let all = algorithms + headers + keyIDs + encodings + signatures + claims + names

    static let now = TestIssuer.now

    /// An attack by one member of the header, signed with the right key; nil removes the member.
    static func header(_ name: String, _ member: String, _ value: String?, _ reason: String) -> Attack {
        Attack(name, reason) { try $0.token(header: [member: value]) }
    }

    /// An attack by one claim, signed with the right key; nil removes the claim.
    static func claim(_ name: String, _ claim: String, _ value: String?, _ reason: String) -> Attack {
        Attack(name, reason) { try $0.token(claims: [claim: value]) }
    }

    /// The three parts of a token.
    static func parts(_ token: String) -> [String] {
        token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// A valid token with another signature.
    static func resigned(_ issuer: TestIssuer, _ change: ([UInt8]) throws -> [UInt8]) throws -> String {
        let parts = try parts(issuer.token())
        let signature = Base64URL.decode(parts[2].utf8) ?? []
        return "\(parts[0]).\(parts[1]).\(Base64URL.encode(try change(signature)))"
    }
}
