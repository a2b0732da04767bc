package import ArgumentParser
import CProcessArguments
import FoundationEssentials
import Rivulet

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The command with its subcommands.
package struct RivuletCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "rivulet",
        abstract: "Hosts reducer-driven states over HTTP and streams their changes, key path by key path.",
        version: ServerOptions.libraryVersion,
        subcommands: [Serve.self, Check.self, Backup.self, Vacuum.self, Health.self]
    )

    package init() {}

    /// The arguments after the program's name.
    ///
    /// Not `CommandLine.arguments`, which are empty where there is no /proc: there every command would be a call for help.
    private static var arguments: [String] {
        (0..<rivulet_argument_count()).dropFirst().map { index in
            // SAFETY: the index is below the count, and the system ends each argument with a zero.
            unsafe String(cString: rivulet_argument(index))
        }
    }

    /// Runs the command.
    package static func main() {
        SQLiteProcess.forbidMemoryCount()
        let name = configuration.subcommands.map { "\($0)".lowercased() }.first { $0 == arguments.first }
        exitOnFailure(of: name) {
            var command = try parseAsRoot(arguments)
            try command.run()
        }
    }

    /// The error's message; of a folder or a file that cannot be used, what is wrong with it and nothing before.
    private static func text(of error: any Error) -> String {
        if case .unavailable(let detail) = error as? StorageError { return detail }
        return message(for: error)
    }

    /// Runs the body, and ends the process when the body throws.
    ///
    /// A refusal is one line on standard error and exit code 1, whatever was wrong. Where the arguments were wrong, it names the help of the
    /// subcommand `name`.
    static func exitOnFailure(of name: String? = nil, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            // A command that has said what is wrong throws only its exit code.
            guard !(error is ExitCode), exitCode(for: error) != .success else { exit(withError: error) }
            let message = text(of: error).split(separator: "\n").joined(separator: " ")
            let isUsage = exitCode(for: error) == .validationFailure
            let help = isUsage ? "; see 'rivulet \(name.map { $0 + " " } ?? "")--help'" : ""
            FileDescriptorOutput.standardError.say("rivulet: \(message.isEmpty ? "\(error)" : message)\(help)\n")
            exit(withError: ExitCode.failure)
        }
    }
}

/// A descriptor to write text to, for what is said before there is a log and after it.
struct FileDescriptorOutput {
    static let standardError = FileDescriptorOutput(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// Writes the text; a descriptor that takes nothing leaves nowhere to say so.
    func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }
}
