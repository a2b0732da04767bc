import RivuletAccess
import RivuletBase
package import RivuletJSON

/// The error of a request for a revocation that is refused; the description names the member and the fix.
package struct RevocationError: Error, Hashable, CustomStringConvertible {
    package let description: String
}

extension Revocation {
    /// The latest time: 9999-12-31T23:59:59Z.
    private static let secondsMax = 253_402_300_799

    /// Reads the body of a request: `{"jti": …}`, `{"subject": …, "issuer": …, "before": …}` or `{"key": …}`.
    ///
    /// `before` is a time of RFC 3339, or seconds since 1970, and `now` if it is missing. `issuer` may be missing if
    /// `soleIssuer` is there; the issuer without a name is `null`.
    package init(
        reading value: JSONValue,
        soleIssuer: TokenIssuer?,
        at now: Int
    ) throws(RevocationError) {
        guard let members = value.members else { throw RevocationError(description: "The body is not an object.") }
        let kinds = ["jti", "subject", "key"].filter { value[$0] != nil }
        guard kinds.count == 1, let kind = kinds.first else {
            throw RevocationError(description: "The body needs one of \"jti\", \"subject\" and \"key\".")
        }
        let known = kind == "subject" ? ["subject", "issuer", "before"] : [kind]
        if let other = members.first(where: { member in !known.contains { $0.hasSameBytes(as: member.name) } }) {
            let name = ForeignText.quoted(other.name)
            throw RevocationError(description: "The body has the member \(name) beside \"\(kind)\". Remove it.")
        }
        guard let name = value[kind]?.stringValue, (1...TokenClaims.nameBytesMax).contains(name.utf8.count) else {
            let bytes = TokenClaims.nameBytesMax
            throw RevocationError(description: "\"\(kind)\" needs a text of 1 to \(bytes) bytes.")
        }
        switch kind {
        case "jti": self = .token(id: name)
        case "key": self = .apiKey(id: name)
        default:
            let issuer = try Self.issuer(of: value, soleIssuer)
            self = .subject(name, issuer: issuer, issuedUntil: try Self.time(of: value) ?? now)
        }
    }

    private static func issuer(of value: JSONValue, _ sole: TokenIssuer?) throws(RevocationError) -> String? {
        switch value["issuer"] {
        case .string(let name): return name
        case .null: return nil
        case nil:
            guard let sole else {
                throw RevocationError(description: "\"issuer\" is missing, and there is no single issuer. Name it.")
            }
            return sole.name
        case .bool, .number, .array, .object:
            throw RevocationError(description: "\"issuer\" needs a text, or null for the issuer without a name.")
        }
    }

    private static func time(of value: JSONValue) throws(RevocationError) -> Int? {
        guard let member = value["before"] else { return nil }
        let seconds = member.integerValue ?? member.stringValue.flatMap(RFC3339.init(parsing:))?.seconds
        guard let seconds, (0...secondsMax).contains(seconds) else {
            let example = "\"2027-01-01T00:00:00Z\", or seconds since 1970"
            throw RevocationError(description: "\"before\" needs a time such as \(example).")
        }
        return seconds
    }
}
