import FoundationEssentials
public import RivuletServer

/// The secret key of a process, and the key before it, with which existing cookies and sealed values stay valid.
public struct SecretKeys: Sendable {
    /// The key that signs cookies, makes fingerprints and seals values.
    public let current: SecretKey
    /// The key before the current one; nil if there is none.
    public let older: SecretKey?

    /// Takes the keys from the environment.
    ///
    /// The current key is the value of `RIVULET_SECRET_KEY`, or the content of the file that `RIVULET_SECRET_KEY_FILE`
    /// names. If both are unset, it is the content of `secret.key` in the folder, which is created with mode 0600 if it
    /// does not exist. The older key is the value of `RIVULET_OLDER_SECRET_KEY`, or the content of the file that
    /// `RIVULET_OLDER_SECRET_KEY_FILE` names. An empty variable is treated as unset.
    ///
    /// - Parameters:
    ///   - folder: The data folder. If it is nil and no variable has a key, the current key is random and not stored.
    ///   - environment: The variables; nil means the variables of the process.
    /// - Throws: `ServerError` if a key is too short or is given twice, or if its file cannot be read or is readable
    ///   by other users.
    public init(keptIn folder: String?, environment: [String: String]? = nil) throws(ServerError) {
        let environment = environment ?? ProcessInfo.processInfo.environment
        if let given = try Self.key("RIVULET_SECRET_KEY", in: environment) {
            current = given
        } else if let folder {
            current = try SecretKey(keptIn: folder)
        } else {
            current = SecretKey()
        }
        older = try Self.key("RIVULET_OLDER_SECRET_KEY", in: environment)
    }

    private static func key(_ name: String, in environment: [String: String]) throws(ServerError) -> SecretKey? {
        let (text, path) = (environment[name] ?? "", environment[name + "_FILE"] ?? "")
        guard text.isEmpty || path.isEmpty else {
            throw ServerError("\(name) and \(name)_FILE are both set; unset one")
        }
        guard text.isEmpty else {
            do throws(ServerError) { return try SecretKey(text) } catch {
                throw ServerError("\(name): \(error.description)")
            }
        }
        return path.isEmpty ? nil : try SecretKey(file: path)
    }
}
