import SwiftDiagnostics

/// The errors of a field that cannot be put in a wrapper; the texts are part of the contract.
///
/// Source: <Tests/Rows/Systems.md#a-diagnostics>.
enum WrapperDiagnostic: String, DiagnosticMessage {
    case invalidDeclarationPlacement = "@ObservableStateWrapper can only be attached to stored properties"
    case unsupportedMultiBinding = "@ObservableStateWrapper does not support comma-separated property bindings"
    case requiresVar = "@ObservableStateWrapper requires a 'var' declaration"
    case existingAccessorsNotSupported =
        "@ObservableStateWrapper cannot be applied to properties that already declare accessors"
    case requiresExplicitType = "@ObservableStateWrapper requires an explicit type annotation"
    case unsupportedPattern = "@ObservableStateWrapper only supports simple identifier bindings"
    case missingWrapperArgument =
        "@ObservableStateWrapper requires a wrapper type argument (first positional parameter)"
    case invalidWrapperExpression = "The wrapper type argument must be a type reference followed by '.self'"
    case missingObservationStateIgnored =
        "Add @ObservationStateIgnored to this property to avoid duplicate accessors from @ObservableState."
    case incorrectAttributeOrder = """
        Place @ObservationStateIgnored after this macro. \
        Correct: @ObservableStateWrapper(...) @ObservationStateIgnored var name: Type
        """

    var message: String { rawValue }

    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID { MessageID(domain: "ObservableStateWrapper", id: "\(self)") }
}
