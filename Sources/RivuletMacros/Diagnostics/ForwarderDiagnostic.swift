import SwiftDiagnostics

/// Why nothing can be forwarded; the texts are part of the contract.
///
/// Source: <Tests/Rows/Systems.md#d-diagnostics>.
enum ForwarderDiagnostic: String, DiagnosticMessage {
    case notAClass = "@StateForwarder can only be used on classes"
    case noArguments = "@StateForwarder requires arguments"
    case noType = "@StateForwarder requires `for` type argument"
    case noMapping = "@StateForwarder requires mapping"
    case invalidType = "@StateForwarder requires a valid type reference"
    case mappingNoArray = "@StateForwarder mapping must be an array of tuples"
    case mappingNoPair = "@StateForwarder mapping entries must be tuple pairs"
    case noPropertyName = "Key path must include a property name"

    var message: String { rawValue }

    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID { MessageID(domain: "StateForwarder", id: "\(self)") }
}
