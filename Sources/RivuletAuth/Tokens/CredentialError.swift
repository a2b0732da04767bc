package import RivuletAccess
package import RivuletJSON

/// The error of a credential that is refused.
///
/// The description is for the log. The answer is the same 401 for each reason. No case has a token, a signature or a
/// secret; texts of the caller are quoted and cut.
package enum CredentialError: Error, Hashable, CustomStringConvertible {
    /// A part of a token.
    package enum Part: String, Sendable {
        case header, payload, signature
    }

    case malformedField
    case tooLong
    case parts(Int)
    case notBase64URL(Part)
    case notJSON(Part, JSONError.Kind)
    case tooDeep(Part)
    case headerMember(String)
    case algorithm(String?, expected: SignatureAlgorithm)
    case type(String?)
    case keyIDMissing
    /// `url` is the source of the issuer's keys; nil for a file.
    case keyID(String, url: String? = nil)
    case issuer(String?)
    case audience
    case claim(String, needs: String)
    case expired(secondsAgo: Int)
    case notYetValid(inSeconds: Int)
    case issuedInFuture(inSeconds: Int)
    case lifetime(seconds: Int, max: Int)
    case signature
    case grant(index: Int, GrantError)
    case revoked
    case keysReplaced
    case apiKeyForm
    case apiKeyID(String)
    case apiKeySecret(String)
    case apiKeyExpired(String)
    case apiKeyInCookie
    case ticket(TicketError)

    /// A word for metrics and for filters of the log.
    package var reason: String {
        switch self {
        case .malformedField, .tooLong, .parts, .notBase64URL, .notJSON, .tooDeep: "malformed"
        case .headerMember: "header"
        case .algorithm: "alg"
        case .type: "typ"
        case .keyIDMissing, .keyID: "kid"
        case .keysReplaced: "reload"
        case .issuer: "iss"
        case .audience: "aud"
        case .claim(let name, _): name
        case .expired, .lifetime, .apiKeyExpired: "exp"
        case .notYetValid: "nbf"
        case .issuedInFuture: "iat"
        case .signature: "signature"
        case .grant: "authorization_details"
        case .revoked: "revoked"
        case .apiKeyForm, .apiKeyID, .apiKeySecret, .apiKeyInCookie: "key"
        case .ticket: "ticket"
        }
    }

    package var description: String {
        switch self {
        case .malformedField: "The header is not Bearer and one token, or the cookie is empty or has two values."
        case .tooLong: "The token has more than \(TokenVerifier.tokenBytesMax) bytes."
        case .parts(let count): "The token has \(count > 3 ? "more than 3" : "\(count)") parts and needs 3."
        case .notBase64URL(let part): "The token's \(part.rawValue) is not base64url without padding."
        case .notJSON(let part, let kind): "The token's \(part.rawValue) is not a strict JSON object: \(kind.rawValue)."
        case .tooDeep(let part):
            "The token's \(part.rawValue) is nested deeper than \(TokenVerifier.depthMax) levels."
        case .headerMember(let name): "The token's header has \"\(name)\", which is refused or malformed."
        case .algorithm(let name, let expected):
            "The token's algorithm is \(Self.quoted(name)), and its key is for \(expected.rawValue)."
        case .type(let type):
            "The token's type is \(Self.quoted(type)), which the issuer's options do not admit. See --token-type."
        case .keyIDMissing: "The token has no kid, and the issuer has several keys."
        case .keyID(let id, _): "The token's kid \(ForeignText.quoted(id)) is not one of the issuer's keys."
        case .issuer(let name): "The token's issuer \(Self.quoted(name)) is not configured. See --issuer."
        case .audience: "The token is for another audience. See --audience."
        case .claim(let name, let needs): "The token's claim \"\(name)\" needs \(needs)."
        case .expired(let seconds): "The token expired \(seconds) s ago."
        case .notYetValid(let seconds): "The token is not valid for another \(seconds) s."
        case .issuedInFuture(let seconds): "The token was issued \(seconds) s in the future. Compare the clocks."
        case .lifetime(let seconds, let max): "The token is valid for \(seconds) s, and \(max) s are the most."
        case .signature: "The token's signature is not valid for its key."
        case .grant(let index, let error): "The token's grant at index \(index) \(error)"
        case .revoked: "The credential is revoked."
        case .keysReplaced: "The keys that verified the credential were replaced while the request was under way."
        case .apiKeyForm: "The API key is mistyped: its form or its checksum is wrong."
        case .apiKeyID(let id): "The API key \(ForeignText.quoted(id)) is not in the file of keys."
        case .apiKeySecret(let id): "The secret of the API key \(ForeignText.quoted(id)) is wrong."
        case .apiKeyInCookie: "An API key is in a cookie. Pages sign in with tokens, because API keys are for programs."
        case .ticket(let error): error.text
        case .apiKeyExpired(let id): "The API key \(ForeignText.quoted(id)) has expired."
        }
    }

    private static func quoted(_ text: String?) -> String { text.map(ForeignText.quoted) ?? "missing" }
}
