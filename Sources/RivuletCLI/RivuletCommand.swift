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
        subcommands: [
            Serve.self, Check.self, Backup.self, Vacuum.self, Health.self, Doctor.self, Keys.self, Token.self,
            Policy.self, Cluster.self,
        ]
    )

    package init() {}

    /// The arguments after the program's name.
    ///
    /// `CommandLine.arguments` is empty on systems without /proc. Every command would then show its help.
    private static var arguments: [String] { Array(allArguments.dropFirst()) }

    /// The program's name and its arguments.
    static var allArguments: [String] {
        (0..<rivulet_argument_count()).map { index in
            // SAFETY: the index is below the count, and the system ends each argument with a zero byte.
            unsafe String(cString: rivulet_argument(index))
        }
    }

    /// Runs the command.
    package static func main() {
        SQLiteProcess.forbidMemoryCount()
        SQLiteProcess.recordCauses()
        let name = configuration.subcommands.map { "\($0)".lowercased() }.first { $0 == arguments.first }
        // `policy check` has 1 for a request that is denied.
        let failure = arguments.starts(with: ["policy", "check"]) ? ExitCode(2) : .failure
        exitOnFailure(of: name, with: failure, usage: name == "cluster" ? .validationFailure : failure) {
            var command = try parseAsRoot(arguments)
            try command.run()
        }
    }

    /// Returns the text to print for an error.
    ///
    /// For `StorageError.unavailable` the text is the detail alone, because the detail names the folder or the file.
    private static func text(of error: any Error) -> String {
        if case .unavailable(let detail) = error as? StorageError { return detail }
        return message(for: error)
    }

    /// Runs the body, and ends the process if the body throws.
    ///
    /// An error is printed as one line on standard error, and the exit code is `failure`. If the arguments were wrong,
    /// the line names the `--help` of the subcommand `name`, and the exit code is `usage`; nil is `failure`.
    static func exitOnFailure(
        of name: String? = nil,
        with failure: ExitCode = .failure,
        usage: ExitCode? = nil,
        _ body: () throws -> Void
    ) {
        do {
            try body()
        } catch {
            // An `ExitCode` means that the command has printed its error. A success is `--help` or `--version`.
            guard !(error is ExitCode), exitCode(for: error) != .success else { exit(withError: error) }
            let message = text(of: error).split(separator: "\n").joined(separator: " ")
            let isUsage = exitCode(for: error) == .validationFailure
            let help = isUsage ? "; see 'rivulet \(name.map { $0 + " " } ?? "")--help'" : ""
            FileDescriptorOutput.standardError.say("rivulet: \(message.isEmpty ? "\(error)" : message)\(help)\n")
            exit(withError: isUsage ? usage ?? failure : failure)
        }
    }
}

/// A file descriptor for text that is written before the log starts or after it ends.
struct FileDescriptorOutput {
    static let standardError = FileDescriptorOutput(descriptor: STDERR_FILENO)
    static let standardOutput = FileDescriptorOutput(descriptor: STDOUT_FILENO)

    let descriptor: Int32

    /// Writes the text; false if a part of it could not be written.
    func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Writes the text.
    ///
    /// A write error is ignored, because there is no other output to report it.
    func say(_ text: String) { _ = write(text) }
}

/// `write(2)`, which the type's own `write` would hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
