import RivuletAccess
package import RivuletJSON

extension Principal {
    /// Reads claims that no signature vouches for, to try out permissions.
    ///
    /// Only `sub` is needed. No time is checked.
    ///
    /// - Throws: `CredentialError` for a claim or a grant at fault.
    package init(assuming claims: JSONValue, rolesClaim: RolesClaim) throws(CredentialError) {
        guard let subject = claims["sub"]?.stringValue,
            (1...TokenClaims.nameBytesMax).contains(subject.utf8.count), !ForeignText.hasControls(subject)
        else { throw .claim("sub", needs: "a string of 1 to \(TokenClaims.nameBytesMax) bytes") }
        var issuer: String?
        if let value = claims["iss"] {
            issuer = value.stringValue
            guard issuer != nil else { throw .claim("iss", needs: "a string") }
        }
        self.init(
            subject: subject,
            issuer: issuer,
            credential: .token(id: nil, keyID: nil),
            issuedAt: nil,
            expires: nil,
            grants: try Grant.list(ofClaims: claims),
            claims: claims,
            roles: rolesClaim.roles(of: claims)
        )
    }
}
