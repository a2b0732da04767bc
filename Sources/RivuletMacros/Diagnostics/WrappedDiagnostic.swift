import SwiftDiagnostics

/// The errors of a field with `@Wrapped`, with a fix in each message.
enum WrappedDiagnostic: DiagnosticMessage {
    /// An error that the long form has too, with another text.
    case shared(WrapperDiagnostic)
    case notInState
    case ignored
    case otherForm
    case notOptional
    case generic(wrapper: String, kind: String)
    case label(String)
    case missingRange

    var message: String {
        switch self {
        case .notInState, .shared(.invalidDeclarationPlacement):
            "'@Wrapped' needs a stored 'var' of a struct with '@ObservableState'"
        case .shared(.unsupportedMultiBinding):
            "'@Wrapped' needs one 'var' for each field: split this declaration"
        case .shared(.requiresVar):
            "'@Wrapped' needs a 'var', because the field can be written"
        case .shared(.existingAccessorsNotSupported):
            "'@Wrapped' makes the accessors of the field: remove these, and do their work where the field is written"
        case .shared(.requiresExplicitType):
            "'@Wrapped' needs the type of the field, because this initial value does not show it"
        case .shared(.unsupportedPattern):
            "'@Wrapped' cannot wrap a tuple pattern: declare one 'var' for each field"
        case .shared(.missingWrapperArgument), .shared(.invalidWrapperExpression):
            "'@Wrapped' needs a wrapper or a kind of wrappers with '.self', such as 'Boxed.self'"
        case .ignored, .shared(.missingObservationStateIgnored), .shared(.incorrectAttributeOrder):
            "'@Wrapped' tracks the field: remove '@ObservationStateIgnored'"
        case .otherForm:
            "'@Wrapped' and '@ObservableStateWrapper' do the same: remove one"
        case .notOptional:
            "'Presented' needs an optional field, which is nil while nothing is shown"
        case .generic(let wrapper, let kind):
            "'@Wrapped' needs the kind '\(kind)', because Swift cannot infer the type argument of '\(wrapper)'"
        case .label(let label):
            "'@Wrapped' takes the configuration without a label: remove '\(label):'"
        case .missingRange:
            "'Clamped' needs a range, such as '@Wrapped(Clamped.self, 0...100)'"
        }
    }

    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID { MessageID(domain: "Wrapped", id: id) }

    private var id: String {
        switch self {
        case .shared(let diagnostic): "\(diagnostic)"
        case .notInState: "notInState"
        case .ignored: "ignored"
        case .otherForm: "otherForm"
        case .notOptional: "notOptional"
        case .generic: "generic"
        case .label: "label"
        case .missingRange: "missingRange"
        }
    }
}
