package import RivuletAccess
import RivuletBase
import RivuletJSON

extension Grant {
    /// The type of a token's grants in `authorization_details`.
    package static let tokenType = "rivulet"

    /// Reads the grants of a token's claims; entries of other types are ignored.
    ///
    /// One grant at fault refuses the token.
    static func list(ofClaims claims: JSONValue) throws(CredentialError) -> [Grant] {
        guard let details = claims["authorization_details"] else { return [] }
        guard let entries = details.elements, entries.count <= countMax else {
            throw .claim("authorization_details", needs: "an array of at most \(countMax) objects")
        }
        var grants: [Grant] = []
        for (index, entry) in entries.enumerated() {
            guard let type = entry["type"]?.stringValue else {
                throw .claim("authorization_details", needs: "a string \"type\" in each object")
            }
            guard type.hasSameBytes(as: tokenType) else { continue }
            do throws(GrantError) {
                grants.append(try Grant(entry, isTyped: true))
            } catch {
                throw .grant(index: index, error)
            }
        }
        return grants
    }
}
