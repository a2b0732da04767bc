import RivuletAccess
import RivuletJSON
import RivuletServer

/// A file with the grants of an API key or of a token: an array of grants, or one grant.
enum GrantFile {
    /// Reads and checks the grants.
    ///
    /// - Throws: a `ServerError` with the path, the grant and the fix.
    static func read(_ path: String) throws(ServerError) -> [JSONValue] {
        let bytes = try CredentialFile(path).bytes
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: bytes)
        } catch {
            throw ServerError("\(path) is not JSON: \(ForeignText.line(error.description)). Correct the place")
        }
        let grants = document.elements ?? [document]
        guard (1...Grant.countMax).contains(grants.count) else {
            throw ServerError("\(path) has \(grants.count) grants; write an array of 1 to \(Grant.countMax)")
        }
        for (index, grant) in grants.enumerated() {
            do throws(GrantError) {
                _ = try Grant(grant)
            } catch {
                throw ServerError("\(path): the grant at index \(index) \(error)")
            }
        }
        return grants
    }
}
