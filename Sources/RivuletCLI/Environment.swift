// Part of Rivulet. See README.md for the architecture.
// Owns the environment variables that stand in for options.

import ArgumentParser
import FoundationEssentials

/// The `RIVULET_…` variables of this process.
enum Environment {
    /// The variable's text; nil when it is not set or empty.
    static func text(_ name: String) -> String? {
        guard let text = ProcessInfo.processInfo.environment["RIVULET_\(name)"], !text.isEmpty else { return nil }
        return text
    }

    /// The variable's value.
    ///
    /// - Throws: `ValidationError`, naming the variable, when its text does not parse.
    static func value<Value>(_ name: String, _ parse: (String) -> Value?) throws -> Value? {
        guard let text = text(name) else { return nil }
        guard let value = parse(text) else {
            throw ValidationError("RIVULET_\(name)=\(text) is not a value of that option")
        }
        return value
    }

    /// A switch: 1 or true, 0 or false.
    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "true", "yes": true
        case "0", "false", "no": false
        default: nil
        }
    }
}
