import ArgumentParser
import Rivulet

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Makes, verifies and restores backups.
struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Back up a data folder, also while a server uses it; verify a backup, or restore it.",
        discussion: "\"rivulet backup TO\" is \"rivulet backup create TO\".",
        subcommands: [Create.self, Verify.self, Restore.self],
        defaultSubcommand: Create.self
    )

    /// Makes a backup.
    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy a data folder into a folder that is empty or does not exist.",
            discussion: """
                A server can use the data folder meanwhile. Every row of the copy is read and checked before the backup is complete. \
                The copy has the server's secret key if the key is in the data folder, so keep the backup as safe as the folder.
                """
        )

        @Option(help: "The data folder.")
        var data: String = Environment.text("DATA") ?? "./data"

        @Argument(help: "The folder for the backup.")
        var to: String

        func run() throws {
            try Environment.checkDataFolder(data)
            // A server on the same folder takes priority.
            _ = nice(10)
            let contents = try SQLiteBackup.create(of: data, in: to)
            print("backup of \(data) in \(to): \(Backup.text(contents))")
            for line in keyLines(hasKey: contents.hasKey) { print(line) }
            for file in contents.leftOut { print("not in the backup, as Rivulet does not know it: \(data)/\(file)") }
            for line in contents.skipped { print("not in the backup: \(data)/\(line)") }
        }

        /// Returns lines about the locations of the keys that the backup needs.
        private func keyLines(hasKey: Bool) -> [String] {
            let names = ["SECRET_KEY", "SECRET_KEY_FILE", "OLDER_SECRET_KEY", "OLDER_SECRET_KEY_FILE"]
            let kept = data + "/secret.key"
            let outside = names.compactMap { name -> String? in
                guard let text = Environment.text(name) else { return nil }
                let isFile = name.hasSuffix("_FILE")
                if hasKey, isFile, isSameFile(text, kept) { return nil }
                return "the key in RIVULET_\(name)\(isFile ? " (\(text))" : "") is not in the backup: keep it, too"
            }
            if hasKey { return ["the key \(kept) is in the backup"] + outside }
            guard outside.isEmpty else { return outside }
            return [
                "there is no key in \(data): if the server gets one from RIVULET_SECRET_KEY or RIVULET_SECRET_KEY_FILE, keep it, too; "
                    + "sealed values cannot be opened without it"
            ]
        }
    }

    /// Verifies a backup.
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read a whole backup; list the damage and exit with 1 if there is any."
        )

        @Argument(help: "The folder with the backup.")
        var folder: String

        func run() throws {
            let contents = try SQLiteBackup.verify(folder)
            for damage in contents.damages { print("\(folder): \(damage)") }
            guard contents.damages.isEmpty else { throw ExitCode.failure }
            print("the backup in \(folder) is whole: \(Backup.text(contents))")
        }
    }

    /// Restores a backup.
    struct Restore: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verify a backup, then copy it into a data folder that is empty or does not exist."
        )

        @Option(help: "The data folder.")
        var data: String = Environment.text("DATA") ?? "./data"

        @Argument(help: "The folder with the backup.")
        var from: String

        func run() throws {
            try Environment.checkDataFolder(data)
            let contents = try SQLiteBackup.restore(from, to: data)
            print("restored \(from) to \(data): \(Backup.text(contents))")
            if !contents.hasKey {
                print("the backup has no key: give the server the key that it had when the backup was made")
            }
        }
    }

    private static func text(_ contents: SQLiteBackup.Contents) -> String {
        let sessions = contents.sessionCount == 1 ? "1 session" : "\(contents.sessionCount) sessions"
        let items = contents.itemCount == 1 ? "1 item or value" : "\(contents.itemCount) items and values"
        return "\(sessions), \(items), \(contents.byteCount) bytes"
    }
}

/// Returns true if two paths lead to the same file.
private func isSameFile(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard unsafe stat(one, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
}
