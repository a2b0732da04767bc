// Part of Rivulet. See README.md for the architecture.
// Owns the binary's entry point.

import RivuletCLI

/// The binary `rivulet`.
@main
enum RivuletMain {
    static func main() { RivuletCommand.main() }
}
