import RivuletAccess
import RivuletAuth
import RivuletJSON

/// The header and the claims of a token as lines of text, without its signature.
enum TokenText {
    /// The claims that are seconds since 1970.
    private static let times: Set<String> = ["exp", "iat", "nbf", "auth_time"]

    /// Returns the lines; `now` is in seconds since 1970.
    ///
    /// - Throws: `CredentialError.notJSON` for claims that are no JSON.
    static func lines(of token: CompactToken, at now: Int) throws(CredentialError) -> [String] {
        let claims: JSONValue
        do throws(JSONError) {
            claims = try JSONValue(parsing: token.payload)
        } catch {
            throw .notJSON(.payload, error.kind)
        }
        let header = [("alg", token.algorithm), ("typ", token.type), ("kid", token.keyID)]
        let names = header.map(\.0) + (claims.members ?? []).map(\.name)
        let width = min(names.map(\.count).max() ?? 0, widthMax)
        func line(_ name: String, _ text: String) -> String {
            let space = String(repeating: " ", count: max(0, width - name.count))
            return "  \(ForeignText.line(name))\(space)  \(ForeignText.visible(text))"
        }
        var lines = ["header"]
        for (name, text) in header { lines.append(line(name, text.map(ForeignText.quoted) ?? "none")) }
        lines.append("claims")
        for member in claims.members ?? [] {
            if times.contains(member.name), let seconds = time(member.value) {
                let distance = Moment.distance(of: seconds, from: now)
                lines.append(line(member.name, "\(member.value) = \(Moment.date(seconds)), \(distance)"))
            } else if let entries = member.value.elements, !entries.isEmpty, member.name == "authorization_details" {
                for entry in entries { lines.append(line(member.name, entry.description)) }
            } else {
                lines.append(line(member.name, member.value.description))
            }
        }
        return lines
    }

    /// The most columns of a name.
    private static let widthMax = 24

    private static func time(_ value: JSONValue) -> Int? {
        guard let seconds = value.doubleValue, abs(seconds) < 1e12 else { return nil }
        return Int(seconds)
    }
}
