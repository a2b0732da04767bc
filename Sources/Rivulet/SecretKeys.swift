import FoundationEssentials
public import RivuletServer

/// The secret of a process, and the one before it, which takes part until nothing of it is left.
public struct SecretKeys: Sendable {
    /// What cookies are signed, fingerprints made and values sealed under.
    public let current: SecretKey
    /// What was before; nil: there is none.
    public let older: SecretKey?

    /// Takes them from the environment.
    ///
    /// The current one is the text `RIVULET_SECRET_KEY`, or what is in the file `RIVULET_SECRET_KEY_FILE`, or in `secret.key` of the folder,
    /// which is made with mode 0600 where it is not there. The older one is `RIVULET_OLDER_SECRET_KEY` or what is in the file
    /// `RIVULET_OLDER_SECRET_KEY_FILE`. A variable that is empty is none.
    ///
    /// - Parameters:
    ///   - folder: The data folder; nil: there is none, and without a variable a secret is made for this run.
    ///   - environment: The variables; nil: those of the process.
    /// - Throws: `ServerError` when one is too short, is given twice, or has a file that cannot be read or that others may read.
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
