import RivuletAccess
import RivuletBase
import RivuletJSON

/// The registered claims of a token, checked for their types and sizes.
///
/// Source: RFC 7519 section 4.1.
struct TokenClaims {
    /// The most bytes of a subject and of a token's id.
    static let nameBytesMax = 255
    /// The latest time of a claim: 9999-12-31T23:59:59Z.
    private static let secondsMax = 253_402_300_799

    let issuer: String?
    let subject: String
    let tokenID: String?
    let audiences: [String]
    /// Seconds since 1970, as all times here.
    let issuedAt: Int
    let expires: Int
    let notBefore: Int?
    let all: JSONValue

    init(_ claims: JSONValue) throws(CredentialError) {
        all = claims
        // A proof of possession is not checked here, and a token without its proof would be a bearer token.
        guard claims["cnf"] == nil else { throw .claim("cnf", needs: "a proof that is not supported here") }
        // A token of events, such as one of a logout, is no access token. Source: RFC 8417 section 4.5.
        guard claims["events"] == nil else { throw .claim("events", needs: "to be missing in an access token") }
        if let value = claims["iss"] {
            guard let text = value.stringValue else { throw .claim("iss", needs: "a string") }
            issuer = text
        } else {
            issuer = nil
        }
        guard let subject = try Self.name("sub", of: claims) else { throw .claim("sub", needs: "a value") }
        self.subject = subject
        tokenID = try Self.name("jti", of: claims)
        audiences = try Self.audiences(of: claims)
        guard let expires = try Self.time("exp", of: claims) else { throw .claim("exp", needs: "a value") }
        guard let issuedAt = try Self.time("iat", of: claims) else { throw .claim("iat", needs: "a value") }
        (self.expires, self.issuedAt) = (expires, issuedAt)
        notBefore = try Self.time("nbf", of: claims)
    }

    /// A text of 1 to 255 bytes without control characters; nil if it is missing.
    private static func name(_ name: String, of claims: JSONValue) throws(CredentialError) -> String? {
        guard let value = claims[name] else { return nil }
        guard let text = value.stringValue, (1...nameBytesMax).contains(text.utf8.count),
            !ForeignText.hasControls(text)
        else { throw .claim(name, needs: "a string of 1 to \(nameBytesMax) bytes without control characters") }
        return text
    }

    private static func audiences(of claims: JSONValue) throws(CredentialError) -> [String] {
        switch claims["aud"] {
        case nil: return []
        case .string(let audience): return [audience]
        case .array(let elements):
            let texts = elements.compactMap(\.stringValue)
            guard !texts.isEmpty, texts.count == elements.count else { break }
            return texts
        default: break
        }
        throw .claim("aud", needs: "a string, or an array of strings")
    }

    /// Whole seconds since 1970; a fraction is dropped.
    private static func time(_ name: String, of claims: JSONValue) throws(CredentialError) -> Int? {
        guard let value = claims[name] else { return nil }
        guard let seconds = value.doubleValue, seconds >= 0, seconds <= Double(secondsMax) else {
            throw .claim(name, needs: "seconds since 1970 as a number")
        }
        return Int(seconds)
    }
}
