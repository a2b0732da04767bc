import SwiftDiagnostics

/// The errors of a type that cannot be an observable value; the first three texts and their id are part of the
/// contract.
///
/// Source: <Tests/Rows/Systems.md#b-diagnostics>.
enum ValueDiagnostic: DiagnosticMessage {
    case enumeration(name: String)
    case actor(name: String)
    case otherClass(name: String)
    case otherType
    case privateInType(name: String)
    case tooManyFields(count: Int)
    case severalBindings
    case pattern
    case storageModifier(String, name: String)

    var message: String {
        switch self {
        case .enumeration(let name):
            "'@ObservableValue' cannot be applied to enumeration type '\(name)'"
        case .actor(let name):
            "'@ObservableValue' cannot be applied to actor type '\(name)'"
        case .otherClass(let name):
            """
            '@ObservableValue' cannot be applied to Class type '\(name)' please use '@Observable' macro for classes. \
            Note that when you are encapsulating an @ObservableValue inside a @Observable class, make sure to tag it with \
            @ObservationIgnored to prevent it from sending unnecessary notifications by the @Observable class.
            """
        case .otherType:
            "'@ObservableValue' can only be applied to a struct"
        case .privateInType(let name):
            MacroDiagnostic.privateInType(macro: "@ObservableValue", name: name).message
        case .tooManyFields(let count):
            """
            '@ObservableValue' observes at most \(MacroDiagnostic.fieldsMax) fields and this type has \(count): move some to a nested \
            value, or mark them @Ignoring
            """
        case .severalBindings:
            "'@ObservableValue' needs one 'var' for each field: split this declaration"
        case .pattern:
            "'@ObservableValue' cannot observe a tuple pattern: declare one 'var' for each field"
        case .storageModifier(let modifier, let name):
            "'@ObservableValue' cannot observe the \(modifier) '\(name)': mark it @Ignoring, or remove '\(modifier)'"
        }
    }

    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID { MessageID(domain: "Observation", id: id) }

    private var id: String {
        switch self {
        case .enumeration, .actor, .otherClass, .otherType: "invalid type"
        case .privateInType: "privateInType"
        case .tooManyFields: "tooManyFields"
        case .severalBindings: "severalBindings"
        case .pattern: "pattern"
        case .storageModifier: "storageModifier"
        }
    }
}
