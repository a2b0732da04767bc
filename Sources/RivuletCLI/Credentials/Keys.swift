import ArgumentParser
import RivuletAccess
import RivuletAuth
import RivuletJSON
import RivuletServer
import RivuletStores

/// Adds, lists and removes API keys.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add, list and remove the API keys of backends.",
        discussion: """
            The file has the hashes of keys, and no key. A server reads it with --api-keys, and again at SIGHUP or within a minute after a \
            change. A command replaces the file as a whole, and commands at the same time lose nothing.
            """,
        subcommands: [Add.self, List.self, Remove.self]
    )

    /// The option that names the file.
    struct File: ParsableArguments {
        @Option(help: "The file of API keys. (default: RIVULET_API_KEYS)")
        var apiKeys: String?

        func path() throws -> String {
            guard let path = apiKeys ?? Environment.text("API_KEYS"), !path.isEmpty else {
                throw ValidationError("name the file of API keys with --api-keys FILE, or in RIVULET_API_KEYS")
            }
            return path
        }

        /// Changes the keys of the file; `remedy` is for a change that a power cut may undo.
        func edit<Outcome>(
            isCreating: Bool,
            remedy: (Outcome) -> String,
            _ change: (inout APIKeyFile) throws -> Outcome
        ) throws -> Outcome {
            let path = try path()
            return try PrivateFile(path).edit(remedy: remedy) { present in
                guard present != nil || isCreating else {
                    throw ServerError("there is no file \(path); name the file of API keys with --api-keys")
                }
                do {
                    var file = try present.map(APIKeyFile.init(parsing:)) ?? APIKeyFile()
                    let outcome = try change(&file)
                    return (file.bytes, outcome)
                } catch let error as AuthConfigurationError {
                    throw ServerError("\(path): \(error) Nothing was changed.")
                }
            }
        }
    }

    /// Adds a key.
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a key, and print it once.",
            discussion: """
                The grants are an array of grants as in a policy, or one grant. The file is made with mode 0600 if it does not exist. The key \
                is the only line on standard output; it cannot be shown again.
                """
        )

        @OptionGroup var file: File

        @Option(help: "A file with the key's grants.")
        var grants: String

        @Option(help: "A name for the list of keys. (default: none)")
        var name: String?

        @Option(help: "A time from now (90s, 15m, 1h, 30d), or a date (2027-01-01T00:00:00Z). (default: never)")
        var expires: String?

        func run() throws {
            let now = Int(WallClock.seconds())
            let expires = try expires.map { try Moment.seconds($0, after: now) }
            let grants = try GrantFile.read(grants)
            // A key that was not printed is of no use to anyone, but it is valid.
            let remedy = { (key: APIKey) in
                "The new key \(key.id) was not printed: remove it with rivulet keys remove \(key.id), and add another"
            }
            let key = try file.edit(isCreating: true, remedy: remedy) { file in
                var random = SystemRandomNumberGenerator()
                return try file.add(name: name, grants: grants, expires: expires, using: &random)
            }
            guard FileDescriptorOutput.standardOutput.write(key.text + "\n") else {
                throw ServerError(
                    "the key \(key.id) was added, but could not be printed; remove it with rivulet keys remove \(key.id), and add another"
                )
            }
            FileDescriptorOutput.standardError.say("the key \(key.id) was added; it is not shown again\n")
        }
    }

    /// Lists the keys.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the keys: id, end, name and grants, separated by tabs."
        )

        @OptionGroup var file: File

        func run() throws {
            let path = try file.path()
            let content = try CredentialFile(path)
            try content.checkIsPrivate()
            let now = Int(WallClock.seconds())
            do {
                for record in try APIKeyFile(parsing: content.bytes).records {
                    let end = record.expires.map { ($0 > now ? "expires " : "expired ") + Moment.date($0) }
                    let grants = JSONValue.array(record.grants.map(\.json))
                    print(
                        record.id,
                        end ?? "never expires",
                        record.name ?? "-",
                        ForeignText.visible(grants.description),
                        separator: "\t"
                    )
                }
            } catch {
                throw ServerError("\(path): \(error)")
            }
        }
    }

    /// Removes a key.
    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a key by its id.",
            discussion: "Servers refuse the key after SIGHUP, or within a minute."
        )

        @OptionGroup var file: File

        @Argument(help: "The id: 8 characters of a-z and 0-9, as keys list shows it.")
        var id: String

        func run() throws {
            // A whole key in its place must not come back in an error.
            guard APIKey.isID(id.utf8) else {
                throw ValidationError("ID is not 8 characters of a-z and 0-9; rivulet keys list shows the ids")
            }
            let path = try file.path()
            let remedy = { (_: Void) in
                "The key \(id) is removed from it: see that rivulet keys list does not show the key after a power cut"
            }
            try file.edit(isCreating: false, remedy: remedy) { file in
                guard file.remove(id: id) else {
                    throw ServerError(
                        "there is no key \(id) in \(path); rivulet keys list shows the ids. Nothing was changed"
                    )
                }
            }
            print("removed the key \(id)")
        }
    }
}
