// Owns a program for end-to-end tests. Its values and secrets are in the default storage, as in an app that configures
// none.

import Foundation
import Rivulet

/// The values and secrets of the program.
private struct Preferences {
    @StoredValue(key: "theme") var theme = "light"
    @SecurelyStoredValue<String>(key: "token") var token
    @SecurelyStoredValue<String>(key: "token", service: "mail", group: "work") var mailToken
    let isLoud = StoredValue(key: "isLoud", default: false)
}

/// Performs its arguments in order, and prints a line for each.
///
/// The arguments are `theme dark`, `token secret`, `mail secret`, `toggle`, `reseal`, `show` and `wait`. `wait` sleeps
/// for 60 seconds, so that a test can kill the process in that time.
@main
enum PreferencesProgram {
    static func main() async throws {
        let preferences = Preferences()
        var arguments = CommandLine.arguments.dropFirst()
        say("made")
        while let step = arguments.popFirst() {
            do {
                say(try await make(step, with: &arguments, of: preferences))
            } catch {
                say("error: \(error)")
            }
        }
    }

    /// Prints a line without delay, also into a pipe.
    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func make(
        _ step: String,
        with arguments: inout ArraySlice<String>,
        of preferences: Preferences
    ) async throws -> String {
        switch step {
        case "theme": try await preferences.$theme.set(arguments.popFirst() ?? "")
        case "token": try await preferences.$token.set(arguments.popFirst())
        case "mail": try await preferences.$mailToken.set(arguments.popFirst())
        case "toggle": try await preferences.isLoud.toggle()
        case "reseal": return "\(try await preferences.$token.reseal()) \(try await preferences.$mailToken.reseal())"
        case "show":
            let secrets = "\(preferences.token ?? "nil") \(preferences.mailToken ?? "nil")"
            return "\(preferences.theme) \(preferences.isLoud.wrappedValue) \(secrets)"
        case "wait": try await Task.sleep(for: .seconds(60))
        default: return "no step: \(step)"
        }
        return "done"
    }
}
