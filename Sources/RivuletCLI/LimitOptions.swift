// The option of `rivulet serve` for the limits on callers and addresses.

import ArgumentParser
import Rivulet

/// The file with limits, or none.
struct LimitOptions: ParsableArguments {
    @Option(
        help:
            "A JSON file with limits on rates, streams and connections, or off. (default: limits if callers sign in, else off)"
    )
    var rateLimits: String?

    /// Applies the option and its variable.
    func apply(to options: inout ServerOptions) {
        switch rateLimits ?? Environment.text("RATE_LIMITS") {
        case nil: options.rateLimits = .automatic
        case "off": options.rateLimits = .off
        case let path?: options.rateLimits = .file(path)
        }
    }
}
