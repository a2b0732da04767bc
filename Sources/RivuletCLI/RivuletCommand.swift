// Part of Rivulet. See README.md for the architecture.
// Owns the command `rivulet`.

import ArgumentParser

/// The binary's entry point.
@main
struct RivuletCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rivulet",
        abstract: "Hosts reducer-driven states over HTTP and streams their changes, key path by key path.",
        version: "0.1.0",
        subcommands: [Serve.self]
    )
}
