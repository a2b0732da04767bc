// Owns a program for tests from outside: values and secrets that name no storage, as an app would have them.

import Foundation
import Rivulet

/// What the program keeps.
private struct Preferences {
    @StoredValue(key: "theme") var theme = "light"
    @SecurelyStoredValue<String>(key: "token") var token
    @SecurelyStoredValue<String>(key: "token", service: "mail", group: "work") var mailToken
    let isLoud = StoredValue(key: "isLoud", default: false)
}

/// Does what its arguments say, one after the other, and prints a line for each: `theme dark`, `token secret`, `mail secret`, `toggle`,
/// `reseal`, `show`, and `wait`, which is until it is killed.
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

    /// Prints a line at once, also into a pipe.
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
