/// The source of a server's limits on rates, streams and connections.
///
/// Source: <Documentation/Security.md#limits>.
public enum RateLimits: Hashable, Sendable {
    /// The default limits if the server asks for credentials, and none otherwise.
    case automatic
    /// No limits.
    case off
    /// The limits of a JSON file, which is read again at SIGHUP; a class that the file does not name is as in
    /// `automatic`.
    case file(String)

    /// The path of the file; nil if there is none.
    var path: String? {
        guard case .file(let path) = self else { return nil }
        return path
    }

    /// Returns the rules, and reads the file for them.
    ///
    /// - Throws: a `ServerError` of one line, with the file and the remedy.
    func rules(hasCredentials: Bool) throws(ServerError) -> LimitRules {
        let base: LimitRules = hasCredentials ? .defaults : .off
        switch self {
        case .automatic: return base
        case .off: return .off
        case .file(let path):
            let file = try CredentialFile(path)
            do throws(ServerError) {
                return try LimitRules(parsing: file.bytes, over: base)
            } catch {
                throw ServerError("\(path): \(error)")
            }
        }
    }
}
