// Owns the description of a verified caller for another server with the same keys, without the caller's credential.

import RivuletAccess
import RivuletBase
import RivuletJSON

extension Identity {
    /// The description of the caller for ``Authenticator/identify(described:)``; empty for an anonymous caller.
    ///
    /// It has the claims of a token, or the id of an API key, and the fingerprint of the keys that verified it.
    package var described: [UInt8] {
        guard let principal, let verifier else { return [] }
        var members = [JSONValue.Member(name: "verifier", value: .string(Base64URL.encode(verifier.bytes)))]
        switch principal.credential {
        case .apiKey(let id): members.append(.init(name: "key", value: .string(id)))
        case .token(_, let keyID):
            members.append(.init(name: "claims", value: principal.claims))
            if let keyID { members.append(.init(name: "kid", value: .string(keyID))) }
        }
        var writer = JSONWriter()
        JSONValue.object(members).encodeJSON(into: &writer)
        return writer.bytes
    }
}

extension Authenticator {
    /// Returns the identity of a caller that another server has verified; nil if its keys are not the present ones.
    ///
    /// The permissions are those of the present rules.
    package func identify(described description: [UInt8]) -> Identity? {
        guard let document = try? JSONValue(parsing: description),
            let verifier = document["verifier"]?.stringValue
        else { return nil }
        if let id = document["key"]?.stringValue {
            guard let keys = apiKeys.fingerprint(id: id), Base64URL.encode(keys.bytes) == verifier,
                let principal = apiKeys.principal(id: id)
            else { return nil }
            return identity(of: principal, caller(of: principal))
        }
        guard let claims = document["claims"], Base64URL.encode(tokenKeys.bytes) == verifier,
            let principal = tokens.principal(described: claims, keyID: document["kid"]?.stringValue)
        else { return nil }
        return identity(of: principal, caller(of: principal))
    }
}

extension TokenVerifier {
    /// Returns the principal of claims that another server has verified with the same keys.
    fileprivate func principal(described claims: JSONValue, keyID: String?) -> Principal? {
        do throws(CredentialError) {
            let read = try TokenClaims(claims)
            guard let issuer = issuer(named: read.issuer) else { return nil }
            return Principal(
                subject: read.subject,
                issuer: read.issuer,
                credential: .token(id: read.tokenID, keyID: keyID),
                issuedAt: read.issuedAt,
                expires: read.expires,
                grants: try Grant.list(ofClaims: claims),
                claims: claims,
                roles: rolesClaim(of: issuer).roles(of: claims)
            )
        } catch {
            return nil
        }
    }
}
